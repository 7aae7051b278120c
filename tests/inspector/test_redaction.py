"""What the inspector hides: the data of Secrets wherever it is, and credentials in texts."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import msgspec
import pytest

from listwatch.inspector.redaction import HIDDEN, Redactor, redacted_tree

PASSWORD = "correct-horse"
ENCODED = b64encode(PASSWORD.encode()).decode()


def secret(**more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"password": ENCODED}, **more}


def shown(tree: Any, *, is_secret: bool = False) -> str:
    return msgspec.json.encode(redacted_tree(tree, is_secret=is_secret)).decode()


def test_the_names_of_a_secret_stay_and_its_values_do_not():
    found = redacted_tree(secret(stringData={"user": "admin-name"}), is_secret=True)
    assert isinstance(found, dict)
    assert found["data"] == {"password": HIDDEN}
    assert found["stringData"] == {"user": HIDDEN}
    assert found["metadata"] == {"name": "s"}


@pytest.mark.parametrize(
    "tree",
    [
        secret(),
        {"kind": "List", "items": [secret()]},
        {"kind": "Template", "spec": {"objects": [{"object": secret()}]}},
        {"kind": "ConfigMap", "data": {"manifest": f"kind: Secret\nstringData: {{password: {PASSWORD}}}"}},
        {"kind": "ConfigMap", "data": {"manifest": msgspec.json.encode(secret()).decode()}},
        {"kind": "Secret", "data": PASSWORD},
        {"kind": "Secret", "stringData": [PASSWORD, ENCODED]},
        {"metadata": {"name": "s"}, "data": {"password": ENCODED}},  # an item of a list has no kind
        {"kind": "object", "stringData": {"password": PASSWORD}},
        {"kind": 7, "data": {"password": ENCODED}},
    ],
)
def test_no_value_of_a_secret_is_shown(tree: Any):
    assert PASSWORD not in shown(tree)
    assert ENCODED not in shown(tree)


@pytest.mark.parametrize(
    "metadata",
    [
        {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": f'{{"stringData":"{PASSWORD}"}}'}},
        {"annotations": {"copy": PASSWORD, "encoded-copy": f"was {ENCODED}"}},
        {"labels": {"copy": PASSWORD}},
        {"managedFields": [{"fieldsV1": {"f:data": {f'v:"{ENCODED}"': {}, "f:password": PASSWORD}}}]},
    ],
)
def test_no_copy_in_the_metadata_of_a_secret_is_shown(metadata: Any):
    for tree in (secret(metadata=metadata), {"kind": "PartialObjectMetadata", **secret(metadata=metadata)}):
        assert PASSWORD not in shown(tree, is_secret=True)
        assert ENCODED not in shown(tree, is_secret=True)


def test_an_object_of_a_cache_of_secrets_is_hidden_whatever_it_claims_to_be():
    assert ENCODED not in shown({"kind": "Pod", "data": {"password": ENCODED}}, is_secret=True)


def test_other_objects_are_shown_without_managed_fields_and_the_applied_configuration():
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "long", "team": "web"}
    metadata = {"name": "a", "managedFields": [{"manager": "kubectl"}], "annotations": annotations}
    tree: Any = {"kind": "ConfigMap", "metadata": metadata, "data": {"color": "blue"}}
    found: Any = redacted_tree(tree, is_secret=False)
    assert found["data"] == {"color": "blue"}
    assert found["metadata"]["annotations"]["team"] == "web"
    assert "long" not in shown(tree)
    assert "managedFields" not in found["metadata"]
    assert tree["metadata"]["managedFields"], "the object itself must not change"


@pytest.mark.parametrize(
    "text",
    [
        f"rejected: Authorization: Bearer {PASSWORD}",
        f"rejected: authorization: Basic {ENCODED}",
        f"GET https://api/?token={PASSWORD}&limit=5",
        f"GET https://admin:{PASSWORD}@proxy:3128/",
        f'{{"access_token": "{PASSWORD}"}}',
        f"login failed with password={PASSWORD}",
        f"client_secret: '{PASSWORD}'",
        f"Token {'eyJhbGciOiJSUzI1NiIs'}.{'eyJzdWIiOiJhZG1pbiJ9'}.{'c2lnbmF0dXJl'} expired ({PASSWORD})",
        f"-----BEGIN RSA PRIVATE KEY-----\n{PASSWORD}\n-----END RSA PRIVATE KEY-----",
        f"-----BEGIN PRIVATE KEY-----\n{PASSWORD}",
        f"the value {PASSWORD} is known",
    ],
)
def test_credentials_in_texts_are_hidden(text: str):
    known = [PASSWORD] if "known" in text or "expired" in text else []
    redacted = Redactor(known)(text)
    assert PASSWORD not in redacted
    assert ENCODED not in redacted
    assert "eyJhbGciOiJSUzI1NiIs" not in redacted
    assert HIDDEN in redacted


def test_a_token_is_hidden_where_a_text_is_shortened():
    text = "x" * 995 + PASSWORD
    assert PASSWORD[:5] not in Redactor([PASSWORD])(text)


def test_a_very_long_text_is_shortened():
    assert len(Redactor([])("token=abcdef " * 1_000_000)) < 2_000


@pytest.mark.parametrize("text", ["dial tcp 127.0.0.1:6443: connection refused", "pods web-0 not found", ""])
def test_ordinary_messages_stay_as_they_are(text: str):
    assert Redactor([])(text) == text
