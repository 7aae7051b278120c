"""The pipeline from a request to its response, and the subresources."""
