"""An object is what the API server stores and sends: metadata, and a body that stays bytes until it is touched.

Nothing here talks to a server or knows a kind; `listwatch.models` has the kinds, `listwatch.api` the protocol.
"""
