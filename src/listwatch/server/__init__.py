"""The server is an API server in your own process: it stores, validates, patches and streams as a real one does."""
