"""The comparison of the models with a server: every kind of difference once."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from tests.models import synthetic

from tools.check_models import Facts, committed_facts, compare, report, server_facts
from tools.models.source import Source, read_source

SPEC = f"{synthetic.TOYS}.ToySpec"


def source(folder: Path, schemas: dict[str, Any] = synthetic.SCHEMAS, groups: Any = synthetic.GROUPS) -> Source:
    documents = {
        "schemas": {"info": {"version": synthetic.VERSION}, "components": {"schemas": schemas}},
        "discovery-api-v1": synthetic.CORE,
        "discovery-apis": groups,
    }
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    return read_source(str(folder))


@pytest.fixture
def models(tmp_path: Path) -> Facts:
    return server_facts(source(tmp_path))


def changed(name: str, **fields: Any) -> dict[str, Any]:
    """The schemas with changed properties of one type; None removes a property."""
    schemas = copy.deepcopy(synthetic.SCHEMAS)
    properties = schemas[name]["properties"] | fields
    schemas[name]["properties"] = {key: value for key, value in properties.items() if value is not None}
    return schemas


def test_the_committed_models_state_facts_of_every_sort():
    facts = committed_facts()
    assert facts["type core.v1.PodSpec.containers"] == (
        '["[#Container", {"k": ["name"], "l": "map", "m": "name", "p": ["merge"]}]'
    )
    assert facts["python core_v1.PodSpec.containers"] == "list[Container]"
    assert facts["resource apps/v1 deployments kind"] == '"Deployment"'


def test_a_server_with_the_same_schemas_gives_no_difference(tmp_path: Path, models: Facts):
    assert compare(models, server_facts(source(tmp_path))) == ([], [], {})


def test_a_kind_or_field_that_only_one_side_has_is_listed_and_no_error(
    tmp_path: Path, models: Facts, capsys: pytest.CaptureFixture[str]
):
    server = source(tmp_path, changed(SPEC, anything=None, brandNew=synthetic.STRING))
    comparison = compare(models, server_facts(server))
    assert "type toys.v1.ToySpec.anything" in comparison.only_models
    assert "type toys.v1.ToySpec.brandNew" in comparison.only_server
    assert report(server, comparison, len(models), each=True)
    assert "type toys.v1.ToySpec.brandNew" in capsys.readouterr().out


@pytest.mark.parametrize(
    "field",
    [
        {"type": "integer", "format": "int32"},
        {"type": "array", "items": {"type": "integer"}, "x-kubernetes-list-type": "set"},
        {"type": "array", "items": synthetic.STRING, "x-kubernetes-list-type": "atomic"},
        {"type": "array", "items": synthetic.STRING, "x-kubernetes-patch-strategy": "merge"},
    ],
)
def test_another_type_list_type_or_patch_strategy_is_an_error(
    tmp_path: Path, models: Facts, field: dict[str, Any], capsys: pytest.CaptureFixture[str]
):
    server = source(tmp_path, changed(SPEC, bodyIPs=field))
    comparison = compare(models, server_facts(server))
    assert "type toys.v1.ToySpec.bodyIPs" in comparison.contradictions
    assert not report(server, comparison, len(models))
    assert "ERROR type toys.v1.ToySpec.bodyIPs" in capsys.readouterr().out


def test_required_fields_may_differ_by_version(tmp_path: Path, models: Facts, capsys: pytest.CaptureFixture[str]):
    schemas = copy.deepcopy(synthetic.SCHEMAS)
    schemas[SPEC]["required"] = ["bodyIPs"]
    server = source(tmp_path, schemas)
    comparison = compare(models, server_facts(server))
    assert "limits toys.v1.ToySpec.bodyIPs" in comparison.contradictions
    assert report(server, comparison, len(models), each=True)
    assert "limits toys.v1.ToySpec.bodyIPs" in capsys.readouterr().out


def test_another_name_of_a_resource_is_an_error(tmp_path: Path, models: Facts):
    groups = json.loads(
        json.dumps(synthetic.GROUPS).replace('"namespaced"', '"cluster"').replace('"Namespaced"', '"Cluster"')
    )
    comparison = compare(models, server_facts(source(tmp_path, groups=groups)))
    assert any(name.startswith("resource ") for name in (*comparison.contradictions, *comparison.only_server))
