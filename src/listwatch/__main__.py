"""`python -m listwatch` is the command `listwatch`."""

import sys

from listwatch.cli.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
