"""Builds invalid objects, and the causes that validation should return for them."""

import json

from listwatch.server.codec.decoding import decode_body
from listwatch.server.codec.defaulting import apply_defaults
from listwatch.server.lifecycle.strategy import complete_new
from listwatch.server.rules.validation import validate_create
from listwatch.server.schema.schema import builtin_schema

SCHEMA = builtin_schema()
RESOURCES = {f"{resource.api_version}/{resource.kind}": resource for resource in SCHEMA.resources}

DOTS = "must not contain dots"
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
NAME_PART = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
LABEL_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
CONFIG_KEY = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
    "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
PORT = "must be between 1 and 65535, inclusive"
NEGATIVE = "must be greater than or equal to 0"
IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
MISMATCH = "`selector` does not match template `labels`"

CONTAINER = {"name": "a", "image": "x"}
SELECTOR = {"matchLabels": {"a": "b"}}


def pod(**spec):
    return {"spec": {"containers": [CONTAINER], **spec}}


def container(**fields):
    return pod(containers=[{**CONTAINER, **fields}])


def template(**spec):
    return {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [CONTAINER], **spec}}


def workload(**spec):
    return {"spec": {"selector": SELECTOR, "template": template(), **spec}}


def job(**spec):
    return {"spec": {"template": template(restartPolicy="Never"), **spec}}


def cron_job(**spec):
    return {"spec": {"schedule": "0 * * * *", "jobTemplate": job(), **spec}}


def service(**spec):
    return {"spec": {"ports": [{"port": 80}], **spec}}


def complete(kind, fields):
    """Return the object as validation receives it: decoded, defaulted and completed; and its resource."""
    resource = RESOURCES[kind]
    body = json.dumps({**fields, "metadata": {"name": "x", **fields.get("metadata", {})}}).encode()
    tree = decode_body(body, "application/json", resource.gvk, SCHEMA).tree
    apply_defaults(tree, SCHEMA)
    tree["metadata"]["uid"] = "u"
    if resource.namespaced:
        tree["metadata"]["namespace"] = "ns"
    if tree["metadata"].get("name"):
        complete_new(tree)
    return tree, resource


def causes(kind, fields):
    found = validate_create(*complete(kind, fields))
    return [(cause.reason.removeprefix("FieldValue"), cause.field, cause.message) for cause in found]


def required(field, detail=""):
    return ("Required", field, f"Required value: {detail}" if detail else "Required value")


def invalid(field, value, detail):
    return ("Invalid", field, f"Invalid value: {json.dumps(value, separators=(',', ':'))}: {detail}")


def unsupported(field, value, *values):
    supported = ", ".join(f'"{each}"' for each in values)
    return ("NotSupported", field, f"Unsupported value: {json.dumps(value)}: supported values: {supported}")


def forbidden(field, detail):
    return ("Forbidden", field, f"Forbidden: {detail}")


def duplicate(field, value):
    return ("Duplicate", field, f"Duplicate value: {json.dumps(value)}")


def check(kind, fields, expected):
    assert sorted(causes(kind, fields)) == sorted(expected)
