"""Several clusters in one manager: their informers, which come and go, and the keys of their objects."""
