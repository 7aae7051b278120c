"""Loading and supervising the programs of `listwatch run`."""
