"""The differ plays the same requests on two API servers and tells where their answers differ.

    generation   makes plays: a hypothesis strategy over paths, verbs, bodies, headers, selectors and versions
    plays        what a play is, and how it is kept in a file
    playing      plays on one server
    comparison   what two answers have in common, once what must differ is taken out of both
    both_servers plays on two servers and gathers what differs
    accepted     the differences that stay, and why
    report       the differences, each kind once, with the play that shows it

`python -m listwatch.testing.differ --help` says how to run it.
"""
