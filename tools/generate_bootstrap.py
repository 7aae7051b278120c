"""Generates the objects that a new API server has: `make bootstrap`, which needs the programs of `make real`.

A real kube-apiserver is started with an empty etcd. What it creates by itself becomes
`src/listwatch/server/bootstrap/bootstrap_data.py`, with placeholders for uids, versions, times and addresses. The
priorities of all group versions, also of those that it does not serve, are in the source of its Go module.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from listwatch.client.rest.rest_client import RESTClient
from listwatch.testing import RealAPIServer

Tree = dict[str, Any]

OUTPUT = Path(__file__).parent.parent / "src" / "listwatch" / "server" / "bootstrap" / "bootstrap_data.py"

RBAC, FLOWCONTROL = "/apis/rbac.authorization.k8s.io/v1", "/apis/flowcontrol.apiserver.k8s.io/v1"
NAMESPACES = "/api/v1/namespaces"
INITIAL = (
    f"{FLOWCONTROL}/prioritylevelconfigurations",
    f"{FLOWCONTROL}/flowschemas",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
    f"{RBAC}/clusterroles",
    f"{RBAC}/clusterrolebindings",
    f"{RBAC}/roles",
    f"{RBAC}/rolebindings",
)
OWN_SERVICE = (
    "/apis/networking.k8s.io/v1/servicecidrs",
    "/apis/networking.k8s.io/v1/ipaddresses",
    "/api/v1/services",
    "/api/v1/endpoints",
    "/apis/discovery.k8s.io/v1/endpointslices",
)
API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"

# An address of a documentation network, and a range that no other value of an object resembles.
ADDRESS, RANGE, CLUSTER_IP = "203.0.113.7", "10.201.0.0/16", "10.201.0.1"
FLAGS = (f"--advertise-address={ADDRESS}", "--endpoint-reconciler-type=lease", f"--service-cluster-ip-range={RANGE}")

GO_MODULE = "k8s.io/kubernetes"
PRIORITIES = re.compile(r'{Group: "([^"]*)", Version: "([^"]*)"}: *{Group: (\d+), Version: (\d+)}')
PRIORITY_FILES = ("pkg/controlplane/apiserver/aggregator.go", "cmd/kube-apiserver/app/aggregator.go")

HEAD = '''"""The objects that kube-apiserver {version} creates by itself, as `initial_objects` reads them.

Generated from a running server. Do not edit: `make bootstrap` regenerates it.
"""
'''


async def read(flags: Sequence[str], paths: Sequence[str]) -> tuple[str, int, dict[str, list[Tree]]]:
    """Return the version of a new server, its port, and the objects at these paths once they no longer change."""
    async with RealAPIServer(flags=flags) as server, RESTClient(server.config) as rest:
        version = json.loads((await rest.get().abs_path("/version").do()).raw)["gitVersion"]
        before: dict[str, list[Tree]] = {}
        while True:
            found = {path: json.loads((await rest.get().abs_path(path).do()).raw) for path in paths}
            items = {path: [_typed(each, found[path]) for each in found[path]["items"]] for path in paths}
            if items == before and all(items.values()):
                return version, urlsplit(server.url).port or 0, items
            before = items
            await asyncio.sleep(5)


def _typed(item: Tree, listed: Tree) -> Tree:
    return {"kind": listed["kind"].removesuffix("List"), "apiVersion": listed["apiVersion"], **item}


# --- Aggregated roles -------------------------------------------------------------------------------------------------


def aggregate(roles: list[Tree], now: str = "$time$") -> None:
    """Fill the rules of aggregated ClusterRoles in place, as kube-controller-manager does a moment after the start."""
    aggregated = [role for role in roles if "aggregationRule" in role]
    while any(_fill(role, roles) for role in aggregated):
        pass
    for role in aggregated:
        entry = {
            "manager": "clusterrole-aggregation-controller",
            "operation": "Apply",
            "apiVersion": role["apiVersion"],
        }
        written = {**entry, "time": now, "fieldsType": "FieldsV1", "fieldsV1": {"f:rules": {}}}
        role["metadata"]["managedFields"].insert(0, written)


def _fill(role: Tree, roles: list[Tree]) -> bool:
    """Return whether the rules have changed."""
    wanted = [selector["matchLabels"].items() for selector in role["aggregationRule"]["clusterRoleSelectors"]]
    rules: list[Tree] = []
    for labels in wanted:
        for other in roles:
            if other is not role and labels <= other["metadata"].get("labels", {}).items():
                rules += [rule for rule in other["rules"] or [] if rule not in rules]
    before, role["rules"] = role["rules"], rules
    return before != rules


# --- Text -------------------------------------------------------------------------------------------------------------


def lines(items: dict[str, list[Tree]], paths: Sequence[str]) -> Iterator[str]:
    """Yield `> storage-id kind version`, then `= metadata` and `key members` for each object with these metadata."""
    for path in paths:
        first = items[path][0]
        group = first["apiVersion"].rpartition("/")[0]
        yield f"> {group}/{path.rpartition('/')[2]} {first['kind']} {first['apiVersion']}"
        by_metadata: dict[str, list[str]] = {}
        for item in items[path]:
            by_metadata.setdefault(_metadata(item), []).append(f"{_key(item)} {_members(item)}".rstrip())
        for metadata, objects in by_metadata.items():
            yield f"= {metadata}".rstrip()
            yield from objects


def _key(item: Tree) -> str:
    metadata = item["metadata"]
    return f"{metadata['namespace']}/{metadata['name']}" if "namespace" in metadata else metadata["name"]


def _metadata(item: Tree) -> str:
    """What follows name, namespace, uid, resourceVersion and creationTimestamp."""
    own = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    return _encoded({name: value for name, value in item["metadata"].items() if name not in own})


def _members(item: Tree) -> str:
    return _encoded({name: value for name, value in item.items() if name not in ("kind", "apiVersion", "metadata")})


def _encoded(members: Tree) -> str:
    """The members of an object, without its braces; all times are the same."""
    return json.dumps(_with_time(members), separators=(",", ":"), ensure_ascii=False)[1:-1]


def _with_time(value: Any) -> Any:
    match value:
        case dict():
            is_time = ("time", "lastTransitionTime")
            return {name: "$time$" if name in is_time else _with_time(each) for name, each in value.items()}
        case list():
            return [_with_time(each) for each in value]
        case _:
            return value


def with_addresses(text: str, port: int) -> str:
    found = text.replace(RANGE, "$range$").replace(CLUSTER_IP, "$cluster_ip$").replace(ADDRESS, "$address$")
    return found.replace(f":{port}", ":$port$").replace('"addressType":"IPv4"', '"addressType":"$family$"')


def with_api_service(text: str) -> str:
    """Return the text of the APIService of apps/v1 with placeholders, of which two are empty in the core group."""
    found = (
        text.replace("v1.apps ", "$name$ ").replace('"onstart"', '"$managed$"').replace('"f:group":{},', "$f_group$")
    )
    start, end = found.index('"group":'), found.index('},"status"')
    spec = '$group$"version":"$version$","groupPriorityMinimum":$group_priority$,"versionPriority":$version_priority$'
    return found[:start] + spec + found[end:]


def text_of(name: str, comment: str, content: Sequence[str]) -> str:
    joined = "\n".join(content)
    assert '"""' not in joined
    return f'\n{name} = rb"""\n{joined}\n"""\n"""{comment}"""\n'


def priorities(version: str) -> str:
    """Return a table: by group version, the priority of the group among groups, and of the version in it."""
    command = ["go", "mod", "download", "-json", f"{GO_MODULE}@{version}"]
    module = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["Dir"]
    rows = {}
    for file in PRIORITY_FILES:
        for group, name, *row in PRIORITIES.findall(Path(module, file).read_text()):
            rows[f"{group}/{name}" if group else name] = tuple(map(int, row))
    body = "".join(
        f'    "{name}": {row},\n' for name, row in sorted(rows.items(), key=lambda row: (-row[1][0], row[0]))
    )
    comment = "Of each group version: the priority of its group among groups, and that of the version in it."
    return f'\nAPI_PRIORITIES = {{\n{body}}}\n"""{comment}"""\n'


async def generate() -> str:
    """Return the text of the module; the same server always gives the same text."""
    version, port, items = await read(FLAGS, (NAMESPACES, *INITIAL, *OWN_SERVICE, API_SERVICES))
    aggregate(items[f"{RBAC}/clusterroles"])
    own = with_addresses("\n".join(lines(items, OWN_SERVICE)), port).split("\n")
    service = next(each for each in items[API_SERVICES] if each["spec"].get("group") == "apps")
    api_service = with_api_service("\n".join(lines({API_SERVICES: [service]}, (API_SERVICES,)))).split("\n")
    return "".join(
        [
            HEAD.format(version=version),
            text_of("NAMESPACES", "The namespaces that every server has.", [*lines(items, (NAMESPACES,))]),
            text_of("INITIAL_OBJECTS", "The objects that are the same on every server.", [*lines(items, INITIAL)]),
            text_of("OWN_SERVICE", "The Service of the server itself, and what belongs to it.", own),
            text_of("API_SERVICE", "The APIService of a group version.", api_service),
            priorities(version),
        ]
    )


def main(arguments: Sequence[str] = ()) -> int:
    """Write the module; with --check, only compare it, and return 1 if it differs."""
    text = asyncio.run(generate())
    if "--check" in arguments:
        is_current = text == OUTPUT.read_text()
        print(f"the initial objects are {'those' if is_current else 'not those'} of the real server")
        return 0 if is_current else 1
    OUTPUT.write_text(text)
    print(f"wrote {OUTPUT}: {len(text):,} characters")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
