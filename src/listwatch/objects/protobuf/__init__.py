"""Objects that were received as protobuf: heads, parts as JSON, and lists. `listwatch.protobuf` is the codec."""
