"""JSON as bytes: scanning, cutting, decoding and merging, without knowledge of a class."""
