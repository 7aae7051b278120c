"""Objects that must not harm the others: of another kind, without a version, or that cannot be decoded."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from listwatch.objects.object import Object

__all__ = ["is_odd", "odd_object"]

_ODD = "odd"
"""The start of the names of objects that exist in responses only."""
_DEPTH = 5000


def odd_object(rng: Random, *, names: Sequence[str], namespace: str, revision: int) -> bytes:
    """Return a random odd object as JSON. `names` are those of existing objects, which it must not replace."""
    version = b'"resourceVersion":"%d"' % max(revision, 1)
    metadata = b'"metadata":{"name":"%s","namespace":"' + namespace.encode() + b'",%s}'
    head = metadata % (f"{_ODD}-{rng.randrange(3)}".encode(), version)
    other = metadata % (rng.choice(names).encode(), b'"resourceVersion":"%d"' % (revision + 1000))
    own = b'{"kind":"ConfigMap","apiVersion":"v1",'
    return rng.choice(
        [
            b'{"kind":"Secret","apiVersion":"v1",%s}' % other,
            b'{"kind":"Table","apiVersion":"meta.k8s.io/v1",%s,"rows":[]}' % other,
            own + head + b',"data":{"a":"\\ud800"}}',
            own + head + b',"data":' + b'{"a":' * _DEPTH + b"1" + b"}" * (_DEPTH + 1),
            own + head.replace(version, b'"resourceVersion":""') + b"}",
            own + head.replace(version, b'"resourceVersion":"1"') + b"}",
            own + b'"metadata":5}',
            own + b'"metadata":{"name":{}}}',
            own + b'"metadata":{%s}}' % version,
        ]
    )


def is_odd(item: Object) -> bool:
    """True for an object that the server does not have."""
    return item.name.startswith(_ODD)
