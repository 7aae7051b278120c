"""The generator, on an API small enough to check by eye."""

import importlib
import json
import sys
import threading
import types
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models import synthetic

from listwatch.generate.python_names import attribute_names, pascal_case, snake_case
from listwatch.meta import Resource, Subresource
from listwatch.server.schema.schema import Schema
from tools import generate_models
from tools.models.source import Source, read_source

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "source"
    place.mkdir()
    schemas = {"info": {"version": synthetic.VERSION}, "components": {"schemas": synthetic.SCHEMAS}}
    for name, document in {
        "schemas": schemas,
        "discovery-api-v1": synthetic.CORE,
        "discovery-apis": synthetic.GROUPS,
    }.items():
        (place / f"{name}.json").write_text(json.dumps(document))
    return place


@pytest.fixture
def source(folder: Path) -> Source:
    return read_source(str(folder))


@pytest.fixture
def files(source: Source) -> dict[str, str]:
    return dict(generate_models.generate(source))


@pytest.fixture
def toys(files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    """The generated module of `toys.k8s.io/v1`, imported."""
    (tmp_path / "toys_v1.py").write_text(files["models/toys_v1.py"])
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("toys_v1")
    del sys.modules["toys_v1"]


# --- the output ------------------------------------------------------------------------------------------------------


def test_each_generated_file_equals_its_golden_file(files: dict[str, str]) -> None:
    assert {f"{name}.txt" for name in files} == {str(path.relative_to(GOLDEN)) for path in GOLDEN.rglob("*.txt")}
    for name, text in files.items():
        assert text == (GOLDEN / f"{name}.txt").read_text(), name


def test_the_order_in_which_schemas_come_does_not_show(source: Source, files: dict[str, str]) -> None:
    backwards = dict(reversed(source.schemas.items()))
    assert dict(generate_models.generate(Source(source.version, backwards, source.resources, source.hashes))) == files


def test_writing_removes_modules_that_are_no_more(folder: Path, tmp_path: Path) -> None:
    package = tmp_path / "package"
    (package / "models").mkdir(parents=True)
    for name in ("games_v1.py", "games_v1.pyi", "__init__.py"):
        (package / "models" / name).touch()
    generate_models.main([str(folder), "--output", str(package)])
    assert sorted(path.name for path in package.glob("models/*")) == [
        "__init__.py",
        "meta_v1.py",
        "meta_v1.pyi",
        "shop_v1.py",
        "shop_v1.pyi",
        "table.py",
        "toys_v1.py",
        "toys_v1.pyi",
    ]
    assert (package / "server" / "schema" / "schema_data.py").exists()


def test_the_stubs_keep_their_descriptions_if_the_source_has_none(folder: Path, tmp_path: Path) -> None:
    package = tmp_path / "package"
    generate_models.main([str(folder), "--output", str(package)])
    described = (package / "models" / "toys_v1.pyi").read_text()
    assert "The paint." in described
    remove_descriptions(folder)
    generate_models.main([str(folder), "--output", str(package)])
    assert (package / "models" / "toys_v1.pyi").read_text() == described
    generate_models.main([str(folder), "--output", str(tmp_path / "other")])
    assert "The paint." not in (tmp_path / "other" / "models" / "toys_v1.pyi").read_text()


def remove_descriptions(folder: Path) -> None:
    def without(tree: Any) -> Any:
        if isinstance(tree, list):
            return [without(each) for each in tree]
        return (
            {name: without(each) for name, each in tree.items() if name != "description"}
            if isinstance(tree, dict)
            else tree
        )

    schemas = folder / "schemas.json"
    schemas.write_text(json.dumps(without(json.loads(schemas.read_text()))))


def test_a_string_that_breaks_the_data_is_rejected(source: Source) -> None:
    schemas = source.schemas | {"a.b.C": {"type": "object", "properties": {"d": {"type": "string", "default": 'x"y'}}}}
    with pytest.raises(ValueError, match="break the line wrapping"):
        list(generate_models.generate(Source(source.version, schemas, (), {})))


def test_of_two_groups_with_one_first_label_only_kubernetes_own_is_short(source: Source) -> None:
    rival = {"type": "object", "properties": synthetic.of_kind(), **synthetic.kind("toys.example.com", "v1", "Car")}
    schemas = source.schemas | {"com.example.toys.v1.Car": rival}
    names = [name for name, _ in generate_models.generate(Source(source.version, schemas, (), {}))]
    assert "models/toys_v1.py" in names
    assert "models/toys_example_com_v1.py" in names


# --- Behaviour of the generated code ----------------------------------------------------------------------------------


def test_a_value_the_api_always_writes_is_written_unset(toys: Any) -> None:
    assert toys.ToySpec().to_dict() == {
        "gears": {"rings": {}},
        "label": "",
        "limits": {},
        "load": "0",
        "port": 0,
        "seal": "",
        "selector": {},
        "wheels": [],
    }


def test_wire_names_are_the_apis_own(toys: Any) -> None:
    tree = {
        "$ref": "r",
        "anything": [1],
        "axle": {},
        "bodyIPs": ["10.0.0.1"],
        "colour": "blue",
        "continue": True,
        "gears": {"rings": {"teeth": 3}, "type": "Rings"},
        "int": 1,
        "label": "l",
        "limits": {"cpu": "500m"},
        "load": "1Gi",
        "openAPIV3Schema": "s",
        "port": "http",
        "price": 1.5,
        "seal": "aGk=",
        "selector": {"matchLabels": {"a": "b"}},
        "sinceTime": "2026-01-02T03:04:05Z",
        "toDict": "d",
        "wheels": [{"name": "a", "left": {"name": "b"}}],
        "x-toys-only": {"a": 1},
    }
    spec = toys.ToySpec.from_dict(tree)
    assert spec.to_dict() == tree
    assert (spec.ref, spec.continue_, spec.int_, spec.body_ips) == ("r", True, 1, ["10.0.0.1"])
    assert (spec.open_api_v3_schema, spec.to_dict_, spec.seal) == ("s", "d", b"hi")


def test_an_object_inside_a_type_is_a_whole_object(toys: Any) -> None:
    spec = toys.ToySpec.from_dict({"spare": [{"kind": "Toy", "metadata": {"name": "bear"}}]})
    assert isinstance(spec.spare[0], toys.Toy)
    assert spec.spare[0].name == "bear"


def test_a_part_that_would_hide_a_method_of_objects_gets_an_underscore(toys: Any) -> None:
    toy = toys.Toy.from_dict({"metadata": {"name": "bear"}, "key": "k", "labelsURL": "l"})
    assert str(toy.key) == "bear"
    assert (toy.key_, toy.labels_url) == ("k", "l")


def test_spec_and_status_of_a_kind_are_never_none(toys: Any) -> None:
    toy = toys.Toy.from_dict({})
    assert toy.status.ready is False
    assert toy.spec.wheels == []
    assert toy.made is None


def test_a_kind_has_its_resource(toys: Any) -> None:
    assert toys.Toy.resource == Resource(
        "toys.k8s.io",
        "v1",
        "Toy",
        "toys",
        "toy",
        verbs=("get", "list"),
        short_names=("t",),
        categories=("all",),
        subresources=(
            Subresource("status", "toys.k8s.io", "v1", "Toy", ("get", "update")),
            Subresource("scale", "autoscaling", "v1", "Scale", ("get",)),
        ),
    )


def test_a_kind_without_a_resource_has_its_name(toys: Any) -> None:
    assert toys.Wind.resource is None
    assert str(toys.Wind.gvk) == "toys.k8s.io/v1, Kind=Wind"


def test_a_list_has_the_type_of_its_items(toys: Any) -> None:
    page = toys.ToyList.from_dict({"items": [{"metadata": {"name": "bear"}}]})
    assert isinstance(page[0], toys.Toy)


def test_the_servers_data_has_the_merge_strategy_of_each_field(files: dict[str, str]) -> None:
    module: dict[str, Any] = {}
    exec(files["server/schema/schema_data.py"], module)
    schema = Schema(module["DATA"])
    toy = schema.type_of("toys.k8s.io/v1", "Toy")
    assert toy is not None
    fields = schema.type(toy.fields["spec"].type.ref).fields
    wheels = fields["wheels"]
    assert (wheels.list_type, wheels.map_keys, wheels.merge_key) == ("map", ("name",), "name")
    assert wheels.patch_strategies == ("merge", "retainKeys")
    assert wheels.required
    assert wheels.type.items is not None
    assert wheels.type.items.ref == "toys.v1.Wheel"
    assert (fields["colour"].default, fields["colour"].enum, fields["label"].default) == ("red", ("red", "blue"), "")
    assert fields["limits"].type.items == fields["load"].type
    assert schema.type("toys.v1.Axle").map_type == "atomic"
    assert schema.type("toys.v1.Gears").unions[0].fields == {"rings": "Rings"}
    assert schema.type("api.resource.Quantity").json_types == ("string", "number")
    assert schema.type_of("toys.k8s.io/v1", "Wish") == schema.type_of("v1", "Wish") == schema.type("meta.v1.Wish")
    assert schema.storage_version_hash(Resource("", "v1", "Wish", "wishes")) == "abc="


# --- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wire", "attribute"),
    [
        ("clusterIP", "cluster_ip"),
        ("podIPs", "pod_ips"),
        ("externalIPs", "external_ips"),
        ("nonResourceURLs", "non_resource_urls"),
        ("fieldsV1", "fields_v1"),
        ("hostPID", "host_pid"),
        ("openAPIV3Schema", "open_api_v3_schema"),
        ("stubPKCS10Request", "stub_pkcs10_request"),
        ("currentCPUUtilizationPercentage", "current_cpu_utilization_percentage"),
        ("setHostnameAsFQDN", "set_hostname_as_fqdn"),
        ("Port", "port"),
        ("$ref", "ref"),
        ("x-kubernetes-list-type", "x_kubernetes_list_type"),
    ],
)
def test_names_are_split_where_a_reader_would(wire: str, attribute: str) -> None:
    assert snake_case(wire) == attribute


def test_keywords_and_names_in_use_get_an_underscore() -> None:
    wires = ["from", "not", "continue", "int", "except", "copy", "2fa", "podIP", "podIp"]
    assert list(attribute_names(wires, frozenset({"copy"})).values()) == [
        "from_", "not_", "continue_", "int_", "except_", "copy_", "_2fa", "pod_ip", "pod_ip_",
    ]  # fmt: skip


def test_a_type_described_in_passing_is_named_after_its_place() -> None:
    assert pascal_case("volumeClaimTemplates") == "VolumeClaimTemplates"


WIRE_NAMES = st.lists(
    st.from_regex(r"[$]?[a-zA-Z][a-zA-Z0-9]*([-_.][a-zA-Z0-9]+)*", fullmatch=True)
    | st.sampled_from(["field", "list", "lazy", "copy", "name", "spec", "class", "from_", "str", "toDict", "to_dict"]),
    unique=True,
    max_size=5,
)


@given(WIRE_NAMES)
def test_every_name_comes_back_on_the_wire_as_it_was(wires: list[str]) -> None:
    said = {wire: {"type": "array", "items": synthetic.STRING} for wire in wires}
    kind = {"properties": {**synthetic.of_kind(), **said}, **synthetic.kind("toys.k8s.io", "v1", "Ball")}
    schemas = {
        **synthetic.SCHEMAS,
        f"{synthetic.TOYS}.Ball": kind,
        f"{synthetic.TOYS}.Part": {"type": "object", "properties": said},
    }
    files = dict(generate_models.generate(Source("v0", schemas, (), {})))
    module: dict[str, Any] = {"__name__": "toys_v1"}
    exec(files["models/toys_v1.py"], module)
    assert sorted(module["Part"].__struct_encode_fields__) == sorted(wires)
    parts = {part.wire for part in module["Ball"].lazy_fields.values()}
    assert parts == {"metadata", *wires} - {"apiVersion", "kind"}
    assert module["Ball"].from_dict({"metadata": {"name": "red"}}).copy().name == "red"


# --- live servers ----------------------------------------------------------------------------------------------------


class SyntheticServer(BaseHTTPRequestHandler):
    """Responds like an API server; each schema is in one of two documents."""

    def do_GET(self) -> None:
        documents = {
            "/version": {"gitVersion": synthetic.VERSION},
            "/api/v1": synthetic.CORE,
            "/openapi/v3": {
                "paths": {name: {"serverRelativeURL": f"/openapi/v3/{name}?hash=1"} for name in ("api/v1", "apis/toys")}
            },
            "/openapi/v3/api/v1?hash=1": self.schemas(synthetic.META, "io.k8s.apimachinery"),
            "/openapi/v3/apis/toys?hash=1": self.schemas(synthetic.TOYS, synthetic.SHOP, synthetic.META),
        }
        if "as=APIGroupDiscoveryList" in self.headers["Accept"]:
            documents["/apis"] = synthetic.GROUPS
        known = self.headers["Authorization"] == "Bearer secret" and self.path in documents
        body = json.dumps(documents[self.path] if known else {}).encode()
        self.send_response(200 if known else 403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def schemas(self, *packages: str) -> dict[str, Any]:
        own = {name: schema for name, schema in synthetic.SCHEMAS.items() if name.startswith(packages)}
        return {"components": {"schemas": own}}

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), SyntheticServer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


def test_a_live_server_gives_the_same_source_as_a_folder(url: str, source: Source) -> None:
    assert read_source(url, token="secret") == source


def test_the_token_comes_from_a_file(url: str, tmp_path: Path, files: dict[str, str]) -> None:
    token = tmp_path / "token"
    token.write_text("secret\n")
    package = tmp_path / "package"
    generate_models.main([url, "--token-file", str(token), "--output", str(package)])
    assert {name: (package / name).read_text() for name in files} == files


def test_descriptions_come_from_a_server_if_the_source_has_none(
    url: str, folder: Path, tmp_path: Path, files: dict[str, str]
) -> None:
    token = tmp_path / "token"
    token.write_text("secret")
    remove_descriptions(folder)
    package = tmp_path / "package"
    generate_models.main([str(folder), "--descriptions", url, "--token-file", str(token), "--output", str(package)])
    assert {name: (package / name).read_text() for name in files} == files


GO = """
package v1

var map_ToySpec = map[string]string{
	"":       "A toy, from Go.",
	"colour": "From Go.",
	"seal":   "A \\"seal\\" of\\n - wax",
}

func (ToySpec) SwaggerDoc() map[string]string {
	return map_ToySpec
}
"""


def test_descriptions_come_from_go_modules_if_there_are_no_others(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "api" / "toys" / "v1"
    place.mkdir(parents=True)
    (place / "types_swagger_doc_generated.go").write_text(GO)
    package = tmp_path / "package"
    generate_models.main([str(folder), "--go-module", str(tmp_path / "api"), "--output", str(package)])
    stub = (package / "models" / "toys_v1.pyi").read_text()
    assert 'A "seal" of\n     - wax\n' in stub
    assert "From Go." not in stub  # the source describes it
    remove_descriptions(folder)
    other = tmp_path / "other"
    generate_models.main([str(folder), "--go-module", str(tmp_path / "api"), "--output", str(other)])
    assert '"""From Go.\n' in (other / "models" / "toys_v1.pyi").read_text()
    assert '"""A toy, from Go."""' in (other / "models" / "toys_v1.pyi").read_text()


def test_a_rejected_request_names_the_source(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        generate_models.main([url, "--output", str(tmp_path)])
    assert f"cannot read {url}: HTTP Error 403" in capsys.readouterr().err


def test_discovery_of_the_old_form_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "discovery-apis.json").write_text('{"kind": "APIGroupList", "groups": []}')
    with pytest.raises(SystemExit):
        generate_models.main([str(folder)])
    assert "aggregated discovery" in capsys.readouterr().err
