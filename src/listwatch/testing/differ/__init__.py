"""Runs the same requests on two API servers and reports where the responses differ.

    generation   generates scenarios: a hypothesis strategy over paths, verbs, bodies, headers, selectors and versions
    scenarios    the requests of a scenario, and the file format of recorded ones
    runner       runs scenarios on one server
    comparison   compares two responses, after normalizing what must differ
    differ       runs scenarios on two servers and collects the differences
    accepted     the accepted differences, each with its reason
    report       groups the differences by kind, with an example of each

See `python -m listwatch.testing.differ --help`.
"""
