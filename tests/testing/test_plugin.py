"""The pytest plugin, in nested runs of pytest, and its server in a thread."""

import json
from urllib.request import Request, urlopen

import pytest

from listwatch.errors import ConfigError
from listwatch.server import APIServer, Fault, Refuse
from listwatch.testing.api_server_thread import APIServerThread

PLUGINS = ("-p", "no:xdist", "-p", "no:cacheprovider", "-p", "no:asyncio")

CLIENT = """
import json
from urllib.request import Request, urlopen

def call(server, path, body=None):
    data = json.dumps(body).encode() if body else None
    headers = {"Authorization": "Bearer " + server.token, "Content-Type": "application/json"}
    with urlopen(Request(server.url + path, data=data, headers=headers)) as response:
        return json.load(response)
"""


@pytest.fixture
def run(pytester: pytest.Pytester):
    """Run tests with only the package installed."""
    pytester.makepyfile(client=CLIENT)

    def run_tests(*arguments: str, **files: str) -> pytest.RunResult:
        pytester.makepyfile(**files)
        return pytester.runpytest_inprocess(*PLUGINS, *arguments)

    return run_tests


def test_plain_tests_can_use_the_fixtures(run):
    result = run(
        test_it="""
        from client import call

        def test_a_namespace_of_its_own(api_server, api_namespace):
            path = f"/api/v1/namespaces/{api_namespace}/configmaps"
            assert call(api_server, path, {"metadata": {"name": "a"}})["metadata"]["namespace"] == api_namespace
            assert [item["metadata"]["name"] for item in call(api_server, path)["items"]] == ["a"]
            assert api_server.requests.matching(resource="configmaps", verb="create")

        def test_nothing_is_left_of_another_test(api_server):
            assert call(api_server, "/api/v1/configmaps")["items"] == []
            assert not api_server.requests.matching(resource="configmaps", verb="create")
        """
    )
    result.assert_outcomes(passed=2)


def test_the_server_can_be_called_from_within_an_event_loop(run):
    result = run(
        test_it="""
        import asyncio
        from client import call

        def test_in_a_loop(api_server, api_namespace):
            path = "/api/v1/namespaces/" + api_namespace
            # In the loop itself, which would deadlock if the server needed it.
            async def main():
                return call(api_server, path)
            assert asyncio.run(main())["metadata"]["name"] == api_namespace
        """
    )
    result.assert_outcomes(passed=1)


def test_tests_may_share_a_server_and_have_their_own_namespaces(run, pytester: pytest.Pytester):
    pytester.makeini("[pytest]\napi_server_scope = session")
    result = run(
        test_it="""
        from client import call
        from listwatch.server import Fault, Refuse
        seen = []

        def test_first(api_server, api_namespace):
            seen.append((api_server.url, api_namespace))
            api_server.faults.add(Fault(Refuse(), path="/version"))
            call(api_server, f"/api/v1/namespaces/{api_namespace}/configmaps", {"metadata": {"name": "a"}})

        def test_second(api_server, api_namespace):
            [(url, namespace)] = seen
            assert (api_server.url, api_namespace) != (url, namespace)
            assert api_server.url == url
            assert call(api_server, "/version")
            assert call(api_server, "/api/v1/configmaps")["items"] == []
            names = [item["metadata"]["name"] for item in call(api_server, "/api/v1/namespaces")["items"]]
            assert namespace not in names
            assert api_namespace in names
        """
    )
    result.assert_outcomes(passed=2)


def test_a_scope_that_does_not_exist_is_named(run, pytester: pytest.Pytester):
    pytester.makeini("[pytest]\napi_server_scope = universe")
    result = run(test_it="def test_it(api_server): ...")
    assert result.ret != 0
    assert "invalid api_server_scope 'universe'" in result.stdout.str() + result.stderr.str()


def test_tests_without_the_fixtures_do_not_load_the_server(pytester: pytest.Pytester):
    pytester.makepyfile("import sys\ndef test_it(): assert 'listwatch.server.api_server' not in sys.modules")
    pytester.runpytest_subprocess(*PLUGINS).assert_outcomes(passed=1)


def test_a_test_with_a_strange_name_has_a_namespace(run):
    result = run(
        test_it="""
        import pytest

        @pytest.mark.parametrize("value", ["Ä/ü", "x" * 100, ""])
        def test_Strange__name(api_namespace, value):
            assert len(api_namespace) <= 63
        """
    )
    result.assert_outcomes(passed=3)


# The thread


def get(server: APIServerThread, path: str) -> tuple[int, dict]:
    with urlopen(Request(server.url + path, headers={"Authorization": f"Bearer {server.token}"})) as response:
        return response.status, json.load(response)


def test_a_server_in_a_thread_serves_programs_without_a_loop():
    with APIServerThread() as server:
        status, namespace = get(server, "/api/v1/namespaces/default")
        assert (status, namespace["metadata"]["name"]) == (200, "default")
        [request] = server.wait_for_requests(1, timeout=60, verb="get", resource="namespaces")
        assert request.status == 200
        assert server.statistics().requests == 1
        assert server.config.base_url == server.url
        server.compact()
        token = server.issue_token("alice")
        assert server.config_for_token(token).token == token


def test_faults_can_be_added_from_any_thread():
    with APIServerThread() as server:
        server.faults.add(Fault(Refuse(), path="/version", times=1))
        with pytest.raises(ConnectionError):
            get(server, "/version")
        assert get(server, "/version")[0] == 200


def test_a_failed_start_is_raised_in_the_starting_thread():
    with APIServerThread() as server:
        port = int(server.url.rpartition(":")[2])
        other = APIServerThread(APIServer(port=port))
        with pytest.raises(ConfigError, match="cannot listen"):
            other.start()
        other.stop()


def test_an_exception_in_the_thread_is_raised_in_the_calling_thread():
    with APIServerThread() as server:
        with pytest.raises(ZeroDivisionError):
            server.call(lambda _: 1 / 0)
        assert server.call(lambda inner: inner.revision) == server.revision
