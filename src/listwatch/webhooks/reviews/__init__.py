"""Reviews: the messages of API servers, the calls of functions, and the responses."""
