"""The API is the protocol as values: which path to ask, what to send, and what the answer means.

Nothing here sends anything; `listwatch.client` does, and `listwatch.server` answers in the same words.
"""
