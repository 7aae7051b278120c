"""Which objects are stored, by the apiVersion and kind in their bytes."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.errors import DecodeError
from listwatch.meta import Resource
from listwatch.models.apps_v1 import Deployment
from listwatch.models.core_v1 import Pod
from listwatch.objects.caching.expected_kind import ExpectedKind
from listwatch.objects.object_list import ObjectList
from listwatch.objects.partial_object import PartialObjectMetadata
from listwatch.objects.unstructured import Unstructured

METADATA = b'"metadata":{"name":"a"}'
WIDGETS = Resource("example.com", "v1", "Widget", "widgets")


def check(kind: type[Any], raw: bytes, resource: Resource | None = None) -> tuple[bool, bool, list[str]]:
    skipped: list[str] = []
    expected = ExpectedKind(kind, resource, lambda error: skipped.append(str(error)))
    item = kind.from_wire(raw)
    return expected.is_usable_event(item), expected.check_of_items(ObjectList())(item), skipped


@pytest.mark.parametrize(
    ("kind", "raw"),
    [
        (Pod, b'{"kind":"Pod","apiVersion":"v1",%s}' % METADATA),
        (Pod, b'{"apiVersion":"v1","kind":"Pod",%s}' % METADATA),
        (Pod, b'{ "kind" : "Pod", "apiVersion" : "v1", %s }' % METADATA),
        (Pod, b'{%s,"kind":"Pod","apiVersion":"v1"}' % METADATA),
        (Pod, b"{%s}" % METADATA),
        (Pod, b'{"kind":"","apiVersion":null,%s}' % METADATA),
        (Deployment, b'{"kind":"Deployment","apiVersion":"apps/v1",%s}' % METADATA),
        (Unstructured, b'{"kind":"Anything","apiVersion":"v1",%s}' % METADATA),
        (Unstructured, b'{"kind":"Menu","apiVersion":"v1",%s,"spec":"Table"}' % METADATA),
    ],
)
def test_an_object_of_the_right_kind_or_without_one_is_usable(kind: type[Any], raw: bytes) -> None:
    assert check(kind, raw) == (True, True, [])


@pytest.mark.parametrize(
    ("kind", "raw", "reason"),
    [
        (Pod, b'{"kind":"Secret","apiVersion":"v1",%s}' % METADATA, "expected v1 Pod, got v1 Secret"),
        (Pod, b'{"apiVersion":"metrics/v1","kind":"Pod",%s}' % METADATA, "expected v1 Pod, got metrics/v1 Pod"),
        (Pod, b'{"kind":"PodTemplate","apiVersion":"v1",%s}' % METADATA, "expected v1 Pod, got v1 PodTemplate"),
        (
            Deployment,
            b'{"kind":"Deployment","apiVersion":"apps/v1beta1",%s}' % METADATA,
            "expected apps/v1 Deployment, got apps/v1beta1 Deployment",
        ),
        (
            Unstructured,
            b'{"kind":"Table","apiVersion":"meta.k8s.io/v1",%s}' % METADATA,
            "expected Unstructured, got meta.k8s.io/v1 Table",
        ),
    ],
)
def test_an_object_of_another_kind_is_reported(kind: type[Any], raw: bytes, reason: str) -> None:
    is_usable_event, is_usable_item, skipped = check(kind, raw)

    assert not is_usable_event
    assert not is_usable_item
    assert all(each.endswith(reason) for each in skipped)
    assert len(skipped) == 2


def test_the_kind_after_the_metadata_is_found_in_an_event() -> None:
    assert not check(Pod, b'{%s,"kind":"Secret","apiVersion":"v1"}' % METADATA)[0]


def test_the_resource_of_the_source_determines_the_kind_of_untyped_objects() -> None:
    widget = b'{"apiVersion":"example.com/v1","kind":"Widget",%s}' % METADATA
    gadget = widget.replace(b"Widget", b"Gadget")

    assert check(Unstructured, widget, WIDGETS)[0]
    is_usable, _, skipped = check(Unstructured, gadget, WIDGETS)
    assert not is_usable
    assert "expected example.com/v1 Widget, got example.com/v1 Gadget" in skipped[0]
    assert check(Unstructured, gadget)[0]


@pytest.mark.parametrize(
    ("raw", "is_usable"),
    [
        (b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",%s}' % METADATA, True),
        (b'{"kind":"Widget","apiVersion":"example.com/v1",%s,"spec":{}}' % METADATA, True),
        (b'{"kind":"Secret","apiVersion":"v1",%s}' % METADATA, False),
    ],
    ids=["reduced by the server", "the whole object", "another kind"],
)
def test_metadata_of_the_resource_is_usable(raw: bytes, is_usable: bool) -> None:
    assert check(PartialObjectMetadata, raw, WIDGETS)[0] is is_usable


# --- lists ------------------------------------------------------------------------------------------------------------


def usable_items(kind: type[Any], body: bytes, resource: Resource | None = None) -> list[str]:
    expected = ExpectedKind(kind, resource, lambda _: None)
    page = ObjectList.from_json(body, kind)
    return [item.name for item in page if expected.check_of_items(page)(item)]


def test_items_without_a_kind_have_that_of_the_list() -> None:
    pods = b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{%s}]}' % METADATA

    assert usable_items(Pod, pods) == ["a"]
    assert usable_items(Unstructured, pods) == ["a"]


def test_a_list_kind_with_an_unusual_name_is_accepted_if_its_items_have_the_right_kind() -> None:
    item = b'{"apiVersion":"example.com/v1","kind":"Widget",%s}' % METADATA
    widgets = b'{"kind":"WidgetCollection","apiVersion":"example.com/v1","metadata":{},"items":[%s]}' % item

    assert usable_items(Unstructured, widgets, WIDGETS) == ["a"]


def test_an_empty_list_of_a_custom_kind_may_have_an_unusual_name() -> None:
    widgets = b'{"kind":"WidgetCollection","apiVersion":"example.com/v1","metadata":{},"items":[]}'
    expected = ExpectedKind(Unstructured, WIDGETS, lambda _: None)

    expected.check_of_items(ObjectList.from_json(widgets, Unstructured))
    with pytest.raises(DecodeError, match=r"got example\.org/v1 WidgetCollection without any"):
        expected.check_of_items(ObjectList.from_json(widgets.replace(b".com", b".org"), Unstructured))


@pytest.mark.parametrize("items", [b"", b"{%s}" % METADATA, b'{"kind":"Secret","apiVersion":"v1",%s}' % METADATA])
def test_a_list_of_another_kind_does_not_empty_the_store(items: bytes) -> None:
    secrets = b'{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[%s]}' % items
    page = ObjectList.from_json(secrets, Pod)

    with pytest.raises(DecodeError, match="expected a list of v1 Pod, got v1 SecretList without any of them"):
        ExpectedKind(Pod, None, lambda _: None).check_of_items(page)


@pytest.mark.parametrize("what", [("meta.k8s.io/v1", "Table"), ("v1", "Pod")])
def test_a_response_that_is_not_a_list_is_an_error(what: tuple[str, str]) -> None:
    expected = ExpectedKind(Pod, None, lambda _: None)
    response = ObjectList[Pod]()
    response._api_version, response._kind = what

    with pytest.raises(DecodeError, match="expected a list of v1 Pod"):
        expected.check_of_items(response)
