"""Regular expressions in the syntax of Go, matched in linear time."""
