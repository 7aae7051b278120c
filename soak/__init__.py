"""Long runs under trouble: `make soak`, or `python -m soak informers`. The tests run the same for a few seconds.

What is looked at afterwards: does everything agree, was every story that was told legal, and is nothing left behind?
"""
