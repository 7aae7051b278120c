"""Validation of objects by the rules of their kind.

`checks` has the building blocks, `validation` the entry points and the table of rules, each other module the rules of
the kinds that it is named after. `custom_objects` validates custom resources against the schema of their definition.
"""
