"""What the command line says about errors, and what it advises."""

from __future__ import annotations

from listwatch.cli.exit_codes import ExitCode
from listwatch.cli.failures import explain
from listwatch.errors import ForbiddenError, NotFoundError


def test_a_missing_permission_says_what_to_do():
    explained = explain(ForbiddenError('pods is forbidden: User "bob" cannot list resource "pods"'))
    assert explained is not None
    assert explained.code is ExitCode.DENIED
    assert "Ask for a role that allows it" in explained.message


def test_a_web_page_is_not_taken_for_an_api_server():
    explained = explain(NotFoundError("the server has no resource at this path", body="<!DOCTYPE HTML>\n<html>"))
    assert explained is not None
    assert explained.code is ExitCode.NO_CLUSTER
    assert explained.message.endswith("check the URL of the cluster in the kubeconfig.")
