"""CustomResourceDefinitions of classes on a real server."""

from __future__ import annotations

import asyncio

import pytest
from tests.generate.checks import check_accepted, kind_with, types_of
from tests.generate.varied_classes import EXAMPLES, Rules

from listwatch.client.resources.client_set import ClientSet
from listwatch.errors import InvalidError
from listwatch.generate import GenerateError, custom_resource_definitions
from listwatch.models import table


async def test_a_real_server_accepts_the_definitions_of_all_classes_unchanged(client: ClientSet):
    # Several at once, because the server takes a second for each until discovery has it.
    for start in range(0, len(EXAMPLES), 6):
        await asyncio.gather(*(check_accepted(client, example) for example in EXAMPLES[start : start + 6]))
    rules = client.resource(Rules, namespace="default")
    with pytest.raises(InvalidError, match="low must not exceed high"):
        await rules.create({"metadata": {"name": "b"}, "spec": {"low": 5, "high": 1}})
    with pytest.raises(InvalidError, match="region is immutable"):
        await rules.patch("a", {"spec": {"region": "us"}})


async def test_a_real_server_accepts_a_field_of_every_type_of_the_models(client: ClientSet):
    definitions = client.apiextensions_v1.customresourcedefinitions()
    accepted, refused = 0, set()
    for module in sorted({*table.MODULES.values()}):
        for each in types_of(module):
            try:
                [definition] = custom_resource_definitions(kind_with(each))
            except GenerateError as error:
                refused.add(error.reason.partition(" ")[2].partition(",")[0].partition(";")[0])
                continue
            await definitions.create(definition, dry_run=True)
            accepted += 1
    assert accepted > 600
    assert refused == {"contains itself"}
