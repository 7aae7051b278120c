"""A controller makes the world match the objects: changes become keys, and each key is reconciled until it is right."""
