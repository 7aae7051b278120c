"""How fast listwatch is, measured side by side with others in one run. `make bench` runs it."""
