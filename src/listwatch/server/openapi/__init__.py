"""OpenAPI documents of the served resources, versions 2 and 3, generated when they are requested."""
