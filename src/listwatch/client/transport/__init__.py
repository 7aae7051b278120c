"""HTTP connections to one API server, over aiohttp."""
