"""A controller makes the world match the objects: it is called for what changed, compares, and does what is missing.

Controller, Manager, Watch, Every              what runs
predicates                                     which changes matter
finalizers, owners, conditions                 what controllers write into objects
"""
