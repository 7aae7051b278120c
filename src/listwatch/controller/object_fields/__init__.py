"""Fields that controllers write into objects: conditions, finalizers and owner references."""
