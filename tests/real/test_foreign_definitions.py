"""Classes of the CustomResourceDefinitions of other projects, which are downloaded as Go modules."""

import asyncio

import pytest

from listwatch.client.resources.client_set import ClientSet
from listwatch.generate import custom_resource_definitions
from tools.foreign_definitions import PROJECTS, DownloadError, Project, check, definitions_of


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)
async def test_classes_of_foreign_definitions_have_all_fields(project: Project, client: ClientSet):
    try:
        definitions = await asyncio.to_thread(definitions_of, project)
    except DownloadError as error:
        pytest.skip(str(error))
    outcome = check(definitions)
    assert outcome.differences == []
    assert len(outcome.classes) >= outcome.definitions
    # A real server accepts what the classes declare.
    server = client.apiextensions_v1.customresourcedefinitions()
    for cls in outcome.classes:
        [again] = custom_resource_definitions(cls)
        await server.create(again, dry_run=True)
