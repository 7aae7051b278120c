"""Server-side apply: field sets, merging and managedFields."""
