"""The names in the path of a request: group, resource, namespace, object and subresource."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["PathParts", "parse_path"]


class PathParts(NamedTuple):
    """The names in the path of a request; empty where it has none. The template is empty for a path of another API."""

    template: str = ""
    group: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def parse_path(path: str) -> PathParts:
    """The names in the path of a request, and the path with placeholders for those of objects."""
    parts = path.strip("/").split("/")
    if parts[0] == "apis" and len(parts) > 2:
        group, root, rest = parts[1], parts[:3], parts[3:]
    elif parts[0] == "api" and len(parts) > 1:
        group, root, rest = "", parts[:2], parts[2:]
    else:
        return PathParts(path if parts[0] in ("api", "apis", "version") and len(parts) == 1 else "")
    template, namespace = [*root], ""
    if len(rest) > 2 and rest[0] == "namespaces" and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
        template += ["namespaces", "{namespace}"]
    resource, name, subresource, *more = [*rest, "", "", ""]
    template += filter(None, (resource, "{name}" if name else "", subresource, "{path}" if any(more) else ""))
    return PathParts("/" + "/".join(template), group, resource, namespace, name, subresource)
