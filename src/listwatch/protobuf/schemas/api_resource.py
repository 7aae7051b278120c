"""The messages of api_resource, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
Quantity 1:string:s!
QuantityValue 1:string:s!
"""
