"""The messages of util_intstr, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
IntOrString 1::l!@Type 2::i!@IntVal 3::s!@StrVal
"""
