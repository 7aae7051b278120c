"""Server-side apply of single objects and of sets, and what an apply would change."""
