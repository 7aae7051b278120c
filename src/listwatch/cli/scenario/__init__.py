"""The story that `listwatch demo` plays on an embedded API server."""
