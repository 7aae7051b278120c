"""Query parameters of list and watch requests."""

from dataclasses import FrozenInstanceError, replace

import pytest

import listwatch as lw
from listwatch.api.options import ListOptions


def test_list_options_that_are_not_set_are_not_sent() -> None:
    assert ListOptions().parameters() == {}


def test_list_options_are_sent_under_their_names_on_the_wire() -> None:
    options = ListOptions(
        label_selector="app=web",
        field_selector="spec.nodeName=n1",
        resource_version="7",
        resource_version_match="NotOlderThan",
        limit=10,
        continue_token="next",
        timeout_seconds=300,
        watch=True,
        allow_watch_bookmarks=True,
        send_initial_events=False,
    )
    assert options.parameters() == {
        "labelSelector": "app=web",
        "fieldSelector": "spec.nodeName=n1",
        "resourceVersion": "7",
        "resourceVersionMatch": "NotOlderThan",
        "limit": 10,
        "continue": "next",
        "timeoutSeconds": 300,
        "watch": True,
        "allowWatchBookmarks": True,
        "sendInitialEvents": False,
    }


def test_a_limit_of_zero_is_not_sent() -> None:
    assert ListOptions(limit=0).parameters() == {}


def test_a_malformed_selector_is_rejected_before_it_is_sent() -> None:
    with pytest.raises(lw.errors.ListWatchError):
        ListOptions(label_selector="app=(").parameters()


def test_list_options_are_changed_by_making_a_copy() -> None:
    options = ListOptions(limit=10)
    assert replace(options, label_selector="app=web") == ListOptions(limit=10, label_selector="app=web")
    with pytest.raises(FrozenInstanceError):
        options.limit = 20  # type: ignore[misc]  # assignment to a frozen field is the mistake under test


def test_list_options_are_exported_by_the_root_and_by_the_client_package() -> None:
    from listwatch import client

    assert lw.ListOptions is client.ListOptions is ListOptions
