"""Several clusters in one manager: their informers, which start and stop at run time, and the keys of their objects."""
