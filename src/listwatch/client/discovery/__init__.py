"""What a server serves: discovery, its cache, and the REST mapper."""
