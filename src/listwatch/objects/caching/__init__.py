"""What caches and informers use of objects: checks of received kinds, dropped fields, texts, known objects."""
