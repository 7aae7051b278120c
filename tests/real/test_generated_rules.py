"""Validation rules on the embedded and on a real server: which compile, and what they make of objects.

LISTWATCH_RULES is the number of generated rules (default 500).
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.real.generated_rules import FIXED, SCHEMA, RuleGenerator

from listwatch.client.resources.client_set import ClientSet
from listwatch.errors import APIError
from listwatch.meta import Resource
from listwatch.server import APIServer

COUNT = int(os.environ.get("LISTWATCH_RULES", "500"))
GROUP_SIZE = 20
PARALLEL = 8
TYPE_NAME = re.compile(r"\b(selfType\d+|object)(\.\w+)*(\.@idx)?")
# What Go's libraries say about addresses, versions and URLs that they cannot parse.
GO_REASON = re.compile(
    r"((ParseAddr|ParsePrefix)\(.*?\): ).*?( evaluating)"
    r"|((?:))(?:Invalid character\(s\) found in|No Major.Minor.Patch|Version string empty).*?( evaluating)"
    r"|(URL parse error during conversion from string: ).*?( evaluating)"
)
SYNTAX_ERROR = re.compile(r"(ERROR: <input>:\d+:\d+: Syntax error).*", re.DOTALL)


@pytest.fixture
async def embedded() -> AsyncIterator[ClientSet]:
    async with APIServer() as server, ClientSet(server.config) as client:
        yield client


def definition(plural: str, rules: list[str]) -> dict[str, Any]:
    kind = plural.capitalize()
    spec = {"type": "object", "properties": SCHEMA, "x-kubernetes-validations": [{"rule": rule} for rule in rules]}
    schema = {"type": "object", "properties": {"spec": spec}}
    return {
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"plural": plural, "singular": plural, "kind": kind, "listKind": f"{kind}List"},
            "scope": "Namespaced",
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}},
            ],
        },
    }


async def compiles(client: ClientSet, rule: str) -> str:
    """Return why a definition with a rule is rejected; empty if it is accepted."""
    definitions = client.apiextensions_v1.customresourcedefinitions()
    try:
        await definitions.create(definition("rules", [rule]), dry_run=True)
    except APIError as error:
        message = SYNTAX_ERROR.sub(r"\1", error.message)
        return TYPE_NAME.sub("object", message)
    return ""


async def outcome(client: ClientSet, plural: str, spec: dict[str, Any]) -> list[str]:
    """Return the messages of all rules that an object violates."""
    resource = Resource("example.com", "v1", plural.capitalize(), plural, namespaced=True)
    objects = client.dynamic.resource(resource, namespace="default")
    for attempt in range(100):
        try:
            await objects.create({"metadata": {"name": "a"}, "spec": spec}, dry_run=True)
            return []
        except APIError as error:
            if error.status_code != 404 or attempt == 99:
                return _reasons(error)
        await asyncio.sleep(0.05)  # the real server serves a new resource after some time
    raise AssertionError("unreachable")


def _reasons(error: APIError) -> list[str]:
    if not error.details or not error.details.causes:
        return [error.message]
    return sorted(GO_REASON.sub(r"\2\4\6 …\3\5\7", cause.message) for cause in error.details.causes)


async def both(real: ClientSet, embedded: ClientSet, rule: str) -> tuple[str, str, str]:
    return rule, await compiles(real, rule), await compiles(embedded, rule)


async def test_the_servers_agree_on_generated_rules_and_objects(client: ClientSet, embedded: ClientSet):
    generator = RuleGenerator(seed=7)
    rules = [*FIXED, *generator.rules(COUNT - len(FIXED))]
    objects = generator.objects(20)
    different: list[str] = []
    accepted: list[str] = []
    for start in range(0, len(rules), PARALLEL):
        batch = await asyncio.gather(*(both(client, embedded, rule) for rule in rules[start : start + PARALLEL]))
        for rule, real, own in batch:
            if real != own:
                different.append(f"{rule}\n    real      {real}\n    embedded  {own}")
            elif not real:
                accepted.append(rule)
    for number, start in enumerate(range(0, len(accepted), GROUP_SIZE)):
        plural = f"rules{number}"
        for each in (client, embedded):
            body = definition(plural, accepted[start : start + GROUP_SIZE])
            await each.apiextensions_v1.customresourcedefinitions().create(body)
        for spec in objects:
            real, own = await outcome(client, plural, spec), await outcome(embedded, plural, spec)
            if real != own:
                only_real, only_own = (
                    [each for each in real if each not in own],
                    [each for each in own if each not in real],
                )
                different.append(f"{spec}\n    real      {only_real}\n    embedded  {only_own}")
    print(f"{len(rules)} rules, {len(accepted)} accepted, {len(accepted) * len(objects)} evaluations")
    assert not different, "\n".join([f"{len(different)} differences", *different])
