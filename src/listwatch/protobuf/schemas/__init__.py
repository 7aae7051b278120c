"""Generated: the messages of each Go package, as text. `listwatch.protobuf.schema` describes the format."""
