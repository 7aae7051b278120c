"""Errors for wrong names: each suggests the right one."""

import subprocess
import sys
from typing import Any

import pytest

import listwatch as lw
from listwatch import blocking
from listwatch.client import ClientSet
from listwatch.models import core_v1
from listwatch.models.core_v1 import ConfigMap, Container, ContainerPort, Pod, PodSpec
from listwatch.objects import Unstructured
from listwatch.objects.object import Object

NOWHERE = lw.ClientConfig(host="http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        (PodSpec, "nodeName", "PodSpec has no field nodeName; did you mean node_name?"),
        (PodSpec, "node_nam", "PodSpec has no field node_nam; did you mean node_name?"),
        (Container, "nam", "Container has no field nam; did you mean name?"),
        (ContainerPort, "hostIP", "ContainerPort has no field hostIP; did you mean host_ip?"),
        (
            ContainerPort,
            "zzz",
            "ContainerPort has no field zzz; its fields are name, host_port, container_port, protocol, host_ip",
        ),
        (Pod, "sepc", "Pod has no field sepc; did you mean spec?"),
        (ConfigMap, "binaryData", "ConfigMap has no field binaryData; did you mean binary_data?"),
        (ConfigMap, "x", "ConfigMap has no field x; its fields are metadata, binary_data, data, immutable"),
    ],
)
def test_a_wrong_argument_of_a_constructor_suggests_the_field(kind: Any, name: str, message: str):
    with pytest.raises(TypeError) as caught:
        kind(**{name: 1})
    assert str(caught.value) == message


def test_other_errors_of_a_constructor_are_not_changed():
    with pytest.raises(TypeError, match="Extra positional arguments provided"):
        Container("web")  # type: ignore[misc]  # the mistake

    class Counted(lw.Model):
        size: int

        def __post_init__(self) -> None:
            raise TypeError("this one")

    with pytest.raises(TypeError, match=r"^this one$"):
        Counted(size=3)


@pytest.mark.parametrize("pod", [Pod(), Pod.from_wire(b'{"metadata":{"name":"a"}}'), Pod().copy()], ids=repr)
def test_assigning_to_a_wrong_name_is_an_error_at_once(pod: Any):
    with pytest.raises(AttributeError) as caught:
        pod.sepc = 1
    assert str(caught.value) == "Pod has no field sepc; did you mean spec?"
    assert "sepc" not in vars(pod)
    with pytest.raises(AttributeError) as caught:
        pod.nothing_like_it = 1
    assert str(caught.value) == "Pod has no field nothing_like_it; its fields are metadata, spec, status"


@pytest.mark.parametrize("name", ["name", "namespace", "uid", "resource_version", "labels"])
def test_assigning_to_a_property_names_the_field_of_the_metadata(name: str):
    with pytest.raises(AttributeError) as caught:
        setattr(Pod(), name, "x")
    assert str(caught.value) == f"Pod.{name} is read-only; set metadata.{name}"


def test_assigning_to_a_method_is_an_error():
    with pytest.raises(AttributeError, match=r"Pod\.to_dict is not a field; its fields are metadata, spec, status"):
        Pod().to_dict = 3  # type: ignore[method-assign, assignment]  # the mistake
    with pytest.raises(AttributeError, match=r"Pod\.key is read-only"):
        Pod().key = 3  # type: ignore[misc, assignment]  # the mistake


def test_assigning_to_an_unstructured_object_suggests_its_mapping():
    with pytest.raises(AttributeError) as caught:
        Unstructured({"kind": "Fleet"}).spec = {}  # type: ignore[attr-defined]  # the mistake
    assert str(caught.value) == "Unstructured has no field spec; set obj['spec']"


def test_fields_private_attributes_and_setters_of_a_subclass_can_be_assigned():
    class Measured(Pod):
        @property
        def node(self) -> str | None:
            return self.spec.node_name

        @node.setter
        def node(self, name: str) -> None:
            self.spec.node_name = name

    pod = Measured()
    pod.node = "n1"
    pod._note = "private"
    pod.status = Pod().status
    assert (pod.spec.node_name, pod._note) == ("n1", "private")
    assert pod.to_dict()["spec"]["nodeName"] == "n1"


@pytest.mark.parametrize(
    ("program", "hint"),
    [
        ("Pod().spek", "AttributeError: 'Pod' object has no attribute 'spek'. Did you mean: 'spec'?"),
        (
            "Pod().spec.nodeName",
            "AttributeError: 'PodSpec' object has no attribute 'nodeName'. Did you mean: 'node_name'?",
        ),
    ],
)
def test_reading_a_wrong_name_shows_a_suggestion_of_python_in_the_traceback(program: str, hint: str):
    # Python finds the suggestion when it prints the error. A __getattr__ would slow down every access to an object.
    program = f"from listwatch.models.core_v1 import Pod\n{program}"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.stderr.splitlines()[-1] == hint


def test_objects_define_no_getattr():
    assert not hasattr(Object, "__getattr__")
    assert not hasattr(lw.Model, "__getattr__")


# --- imports ---------------------------------------------------------------------------------------------------------


def test_importing_a_wrong_class_suggests_the_right_one():
    with pytest.raises(ImportError) as caught:
        from listwatch.models.core_v1 import ConfigMapp  # type: ignore[attr-defined]  # noqa: F401  # the mistake
    assert str(caught.value) == (
        "cannot import name 'ConfigMapp' from 'listwatch.models.core_v1'; did you mean ConfigMap?"
    )
    with pytest.raises(ImportError) as caught:
        from listwatch import ClientSett  # type: ignore[attr-defined]  # noqa: F401  # the mistake
    assert str(caught.value) == "cannot import name 'ClientSett' from 'listwatch'; did you mean ClientSet?"


def test_a_wrong_attribute_of_a_module_suggests_the_right_one():
    with pytest.raises(AttributeError) as caught:
        _ = core_v1.podspec  # type: ignore[attr-defined]  # the mistake
    assert str(caught.value) == "module 'listwatch.models.core_v1' has no attribute 'podspec'; did you mean PodSpec?"
    assert not hasattr(core_v1, "Nothing")
    assert not hasattr(core_v1, "__path__")
    with pytest.raises(AttributeError, match="module 'listwatch' has no attribute 'pods'"):
        _ = lw.pods  # type: ignore[attr-defined]  # the mistake


# --- clients and factories -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("access", "message"),
    [
        (
            lambda client: client.core_v1.pods.list(),
            'client.core_v1.pods must be called before .list: client.core_v1.pods("default").list, '
            "or client.core_v1.pods().list for all namespaces",
        ),
        (
            lambda client: client.core_v1.nodes.get("n1"),
            "client.core_v1.nodes must be called before .get: client.core_v1.nodes().get",
        ),
        (
            lambda client: client.core_v1.pods.lst(),
            "client.core_v1.pods(\"default\") has no attribute 'lst'; did you mean list?",
        ),
        (lambda client: client.core_v1.podz, "the client's core_v1 has no attribute 'podz'; did you mean pods?"),
        (lambda client: client.core_v1.Pod, "the client's core_v1 has no attribute 'Pod'; did you mean pods?"),
        (
            lambda client: client.core_v1.config_maps,
            "the client's core_v1 has no attribute 'config_maps'; did you mean configmaps?",
        ),
    ],
)
@pytest.mark.parametrize("kind", [ClientSet, blocking.ClientSet])
async def test_a_wrong_use_of_a_resource_of_a_client_says_what_to_write(access: Any, message: str, kind: Any):
    try:
        found = access(kind(NOWHERE))
    except AttributeError as error:
        found = str(error)
    assert found == message


async def test_a_wrong_group_or_resource_suggests_the_right_one():
    client: Any = ClientSet(NOWHERE)
    with pytest.raises(AttributeError) as caught:
        _ = client.cor_v1
    assert str(caught.value) == "ClientSet has no attribute 'cor_v1'; did you mean core_v1?"
    factory: Any = lw.SharedInformerFactory(client)
    with pytest.raises(AttributeError) as caught:
        _ = factory.core_v1.podz
    assert str(caught.value) == "the factory's core_v1 has no attribute 'podz'; did you mean pods?"
    await client.aclose()


async def test_a_class_without_a_kind_is_an_error_with_the_class_statement():
    class Fleet(Object):
        pass

    async with ClientSet(NOWHERE) as client:
        with pytest.raises(lw.errors.RequestError) as caught:
            client.resource(Fleet)
    assert str(caught.value) == (
        "the class Fleet has no group, version and kind: declare it as "
        '`class Fleet(lw.CustomResource, group="example.com", version="v1", kind="Fleet")`'
    )
