"""A work queue holds the keys that need work: none is lost, none is there twice, none is worked on twice at once."""
