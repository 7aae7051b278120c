"""CustomResourceDefinitions as schemas: structural schemas, merge shapes, decoding of custom objects."""
