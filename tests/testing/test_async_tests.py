"""Async tests and fixtures that the pytest plugin runs, in nested runs of pytest: alone, and beside other plugins."""

import pytest

# What is imported here is not imported again by each nested run.
from listwatch.models import core_v1
from listwatch.server import APIServer
from listwatch.testing import APIServerThread, async_tests, plugin

__all__ = ["APIServer", "APIServerThread", "async_tests", "core_v1", "plugin"]

ALONE = ("-p", "no:asyncio", "-p", "no:anyio")
ASYNCIO = ("-p", "no:anyio", "-o", "asyncio_default_fixture_loop_scope=function")
ANYIO = ("-p", "no:asyncio")
# Connections that are not closed are reported as resource warnings when they are collected.
STRICT = ("-p", "no:cacheprovider", "-W", "error")


@pytest.fixture
def run(pytester: pytest.Pytester):
    def run_tests(*arguments: str, **files: str) -> pytest.RunResult:
        pytester.makepyfile(**files)
        return pytester.runpytest_inprocess("-p", "no:xdist", *STRICT, *arguments)

    return run_tests


CLIENT = """
    from listwatch.models.core_v1 import ConfigMap
    from listwatch.objects import ObjectMeta

    async def create(client, namespace, name):
        return await client.core_v1.configmaps(namespace).create(ConfigMap(metadata=ObjectMeta(name=name)))
"""


def test_an_async_test_runs_without_another_plugin(run):
    result = run(
        *ALONE,
        client=CLIENT,
        test_it="""
        import gc
        import pytest
        from client import create

        async def test_it(api_client, api_namespace):
            await create(api_client, api_namespace, "a")
            assert [each.name for each in await api_client.core_v1.configmaps(api_namespace).list()] == ["a"]

        class TestClass:
            async def test_it(self, api_client, api_namespace):
                async with api_client.core_v1.configmaps(api_namespace).watch() as events:
                    await create(api_client, api_namespace, "a")
                    async for event in events:
                        assert event.object.name == "a"
                        break

        @pytest.mark.parametrize("value", [1, 2])
        async def test_with_parameters(value):
            assert value

        def test_nothing_is_left_open():
            gc.collect()
        """,
    )
    result.assert_outcomes(passed=5)


def test_the_outcome_of_an_async_test_is_that_of_its_coroutine(run):
    result = run(
        *ALONE,
        test_it="""
        import pytest

        async def test_failing():
            assert 1 == 2

        async def test_skipped():
            pytest.skip("not here")

        @pytest.mark.xfail(strict=True)
        async def test_expected():
            raise ValueError
        """,
    )
    result.assert_outcomes(failed=1, skipped=1, xfailed=1)
    result.stdout.fnmatch_lines(["*assert 1 == 2*"])


def test_async_fixtures_share_the_event_loop_of_their_test(run):
    result = run(
        *ALONE,
        client=CLIENT,
        test_it="""
        import asyncio
        import pytest
        from client import create

        @pytest.fixture
        async def loop():
            return asyncio.get_running_loop()

        @pytest.fixture
        async def item(api_client, api_namespace, loop):
            async with asyncio.timeout(60), asyncio.TaskGroup():   # which need one task at both ends
                yield await create(api_client, api_namespace, "a")
                assert asyncio.get_running_loop() is loop
                await api_client.core_v1.configmaps(api_namespace).delete("a")

        async def test_it(item, loop):
            assert item.name == "a"
            assert asyncio.get_running_loop() is loop

        class TestClass:
            @pytest.fixture
            async def own(self):
                self.value = 1
                yield self

            async def test_the_instance(self, own):
                assert own is self
                assert self.value == 1
        """,
    )
    result.assert_outcomes(passed=2)


def test_tasks_that_a_test_leaves_are_cancelled_before_the_next_one(run):
    result = run(
        *ALONE,
        test_it="""
        import asyncio
        tasks = []

        async def test_first():
            tasks.append(asyncio.create_task(asyncio.sleep(1000)))

        async def test_second():
            assert tasks[0].cancelled()
        """,
    )
    result.assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("if False: yield", "the async fixture 'broken' did not yield a value"),
        ("yield 1\n            yield 2", "the async fixture 'broken' yielded more than once"),
        ("raise ValueError('why')\n            yield", "ValueError: why"),
        ("yield 1\n            raise ValueError('why')", "ValueError: why"),
    ],
)
def test_a_fixture_that_fails_is_an_error_of_its_test(run, body, message):
    result = run(
        *ALONE,
        test_it=f"""
        import pytest

        @pytest.fixture
        async def broken():
            {body}

        async def test_it(broken): ...
        """,
    )
    assert result.parseoutcomes()["errors"] == 1
    result.stdout.fnmatch_lines([f"*{message}*"])


def test_an_async_fixture_of_a_wider_scope_is_rejected_with_the_reason(run):
    result = run(
        *ALONE,
        test_it="""
        import pytest

        @pytest.fixture(scope="session")
        async def shared(): ...

        async def test_it(shared): ...
        """,
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the async fixture 'shared' has the scope 'session'*"])


def test_property_tests_may_be_async(run):
    result = run(
        *ALONE,
        test_it="""
        import asyncio
        from hypothesis import given, settings, strategies

        seen = []

        @settings(max_examples=5, database=None, deadline=None)
        @given(strategies.integers())
        async def test_it(number):
            await asyncio.sleep(0)
            seen.append(number)

        def test_that_it_ran():
            assert seen
        """,
    )
    result.assert_outcomes(passed=2)


def test_a_client_can_be_used_in_a_loop_that_the_test_runs(run):
    result = run(
        *ALONE,
        client=CLIENT,
        test_it="""
        import asyncio, gc
        from client import create

        def test_it(api_client, api_namespace):
            asyncio.run(create(api_client, api_namespace, "a"))

        def test_nothing_is_left_open():
            gc.collect()
        """,
    )
    result.assert_outcomes(passed=2)


def test_plain_tests_have_a_blocking_client(run):
    result = run(
        *ALONE,
        test_it="""
        def test_it(blocking_api_client, api_namespace):
            assert blocking_api_client.core_v1.namespaces().get(api_namespace).name == api_namespace
        """,
    )
    result.assert_outcomes(passed=1)


def test_the_arguments_of_the_server_can_be_overridden(run):
    result = run(
        *ALONE,
        test_it="""
        import pytest
        import listwatch as lw
        from listwatch.server import Decision

        class ReadOnly:
            def authorize(self, user, request):
                return Decision(request.verb in ("get", "list", "watch"), reason="read-only")

        @pytest.fixture
        def api_server_options():
            return {"authorizer": ReadOnly()}

        async def test_it(api_server, api_client):
            await api_client.core_v1.secrets("default").delete_collection()
            async with lw.ClientSet(api_server.config_for_token(api_server.issue_token("alice"))) as alice:
                await alice.core_v1.namespaces().get("default")
                with pytest.raises(lw.errors.ForbiddenError, match="read-only"):
                    await alice.core_v1.secrets("default").delete_collection()
        """,
    )
    result.assert_outcomes(passed=1)


# --- pytest-asyncio


# A test and its fixtures that use `api_client` at the start and the end, in the loop of whichever plugin runs them.
WITH_ASYNCIO = """
    import asyncio, gc
    import pytest, pytest_asyncio
    from client import create

    @pytest_asyncio.fixture
    async def item(api_client, api_namespace):
        yield await create(api_client, api_namespace, "a"), asyncio.get_running_loop()
        await api_client.core_v1.configmaps(api_namespace).delete("a")

    @pytest.mark.asyncio
    async def test_marked(item, api_client, api_namespace, request):
        assert asyncio.get_running_loop() is item[1]
        assert "_listwatch_async_test_runner" not in request.fixturenames
        await api_client.core_v1.configmaps(api_namespace).get("a")

    def test_nothing_is_left_open():
        gc.collect()
"""


@pytest.mark.parametrize("mode", ["strict", "auto"])
def test_pytest_asyncio_runs_its_own_tests(run, mode):
    result = run(*ASYNCIO, f"--asyncio-mode={mode}", client=CLIENT, test_it=WITH_ASYNCIO)
    result.assert_outcomes(passed=2)


def test_pytest_asyncio_in_auto_mode_runs_all_async_tests_and_fixtures(run):
    result = run(
        *ASYNCIO,
        "--asyncio-mode=auto",
        client=CLIENT,
        test_it="""
        import pytest, pytest_asyncio
        from client import create

        @pytest.fixture
        async def item(api_client, api_namespace):
            yield await create(api_client, api_namespace, "a")
            await api_client.core_v1.configmaps(api_namespace).delete("a")

        @pytest_asyncio.fixture(scope="session", loop_scope="session")
        async def shared():
            return 1

        async def test_it(item, shared, request):
            assert "_listwatch_async_test_runner" not in request.fixturenames
        """,
    )
    result.assert_outcomes(passed=1)


def test_the_loop_of_pytest_asyncio_may_outlive_the_client(run):
    result = run(
        *ASYNCIO,
        "--asyncio-mode=auto",
        client=CLIENT,
        test_it="""
        import gc
        import pytest
        from client import create

        pytestmark = pytest.mark.asyncio(loop_scope="session")

        async def test_first(api_client, api_namespace):
            await create(api_client, api_namespace, "a")

        async def test_second(api_client, api_namespace):
            gc.collect()
            await create(api_client, api_namespace, "a")
        """,
    )
    result.assert_outcomes(passed=2)


def test_async_tests_that_pytest_asyncio_does_not_take_run_here(run):
    result = run(
        *ASYNCIO,
        "--asyncio-mode=strict",
        client=CLIENT,
        test_it="""
        import pytest
        from client import create

        @pytest.fixture
        async def item(api_client, api_namespace):
            return await create(api_client, api_namespace, "a")

        async def test_unmarked(item):
            assert item.name == "a"
        """,
    )
    result.assert_outcomes(passed=1)


# --- anyio

WITH_ANYIO = """
    import asyncio, gc
    import pytest
    from client import create

    @pytest.fixture
    def anyio_backend():
        return "asyncio"

    @pytest.fixture
    async def item(api_client, api_namespace):
        yield await create(api_client, api_namespace, "a"), asyncio.get_running_loop()
        await api_client.core_v1.configmaps(api_namespace).delete("a")

    {mark}
    async def test_it(item, api_client, api_namespace, request):
        assert asyncio.get_running_loop() is item[1]
        assert "_listwatch_async_test_runner" not in request.fixturenames
        await api_client.core_v1.configmaps(api_namespace).get("a")

    {mark}
    async def test_without_async_fixtures(api_client, api_namespace):
        await create(api_client, api_namespace, "a")

    def test_nothing_is_left_open():
        gc.collect()
"""


def test_anyio_runs_tests_with_its_marker(run):
    result = run(*ANYIO, client=CLIENT, test_it=WITH_ANYIO.format(mark="@pytest.mark.anyio"))
    result.assert_outcomes(passed=3)


def test_anyio_in_auto_mode_runs_all_async_tests(run):
    result = run(*ANYIO, "-o", "anyio_mode=auto", client=CLIENT, test_it=WITH_ANYIO.format(mark=""))
    result.assert_outcomes(passed=3)


def test_async_tests_without_the_marker_of_anyio_run_here(run):
    result = run(
        *ANYIO,
        client=CLIENT,
        test_it="""
        from client import create

        async def test_it(api_client, api_namespace, request):
            assert "_listwatch_async_test_runner" in request.fixturenames
            await create(api_client, api_namespace, "a")
        """,
    )
    result.assert_outcomes(passed=1)


def test_a_marker_of_anyio_that_is_added_late_counts(run):
    result = run(
        *ANYIO,
        conftest="""
        import pytest

        def pytest_collection_modifyitems(items):
            for item in items:
                item.add_marker(pytest.mark.anyio)
        """,
        test_it="""
        import asyncio

        async def test_it():
            # Here, the coroutine of the test would be that of the task.
            assert asyncio.current_task().get_coro().__qualname__ != "test_it"
        """,
    )
    result.assert_outcomes(passed=1)
