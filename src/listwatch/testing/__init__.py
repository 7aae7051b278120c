"""Testing holds the stand-ins for our tests and yours: clocks that obey, scripted sources, contracts to meet.

The rest of the package never imports it.
"""
