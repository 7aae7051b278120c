"""The messages of pkg_runtime, from the Go modules of Kubernetes API types v0.37.2.

Generated, as `listwatch.protobuf.schema` reads it. Do not edit: `make models` regenerates it.
"""

MESSAGES = """\
RawExtension 1:-:y!@Raw
TypeMeta 1:apiVersion:s@APIVersion 2:kind:s
Unknown 1::#TypeMeta!@TypeMeta 2:-:y!@Raw 3::s!@ContentEncoding 4::s!@ContentType
"""
