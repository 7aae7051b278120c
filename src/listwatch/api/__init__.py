"""The API protocol as values: options, patches, references, discovery, requests, responses and watch events.

Nothing here does I/O. `listwatch.client` sends requests, and `listwatch.server` handles them.
"""
