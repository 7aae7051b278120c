"""Custom resource definitions, their structural schemas, and the decoding of custom objects."""
