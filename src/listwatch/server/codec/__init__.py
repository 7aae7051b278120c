"""Request bodies to objects and objects to response bodies: decoding, conversion, defaulting, encoding."""
