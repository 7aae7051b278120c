"""The file of a persistent cache, as bytes: blocks, and how the contents are recovered from them. No I/O."""
