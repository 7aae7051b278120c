"""Discovery of groups and resources, its cache, and the REST mapper."""
