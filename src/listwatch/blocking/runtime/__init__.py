"""The hand-written part of the blocking API: the background loop, handler threads, and what is not generated."""
