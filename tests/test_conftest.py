"""`conftest.py` runs async tests and fails exactly those tests that leak."""

from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py")

TIDY = """
    import asyncio
    import socket
    import threading

    import pytest
    from hypothesis import given, strategies
    from listwatch import blocking
    from listwatch.client import ClientConfig


    @pytest.fixture
    async def coroutine_fixture():
        await asyncio.sleep(0)
        return asyncio.get_running_loop()


    @pytest.fixture
    async def server():
        connections = []
        server = await asyncio.start_server(lambda reader, writer: connections.append(writer), "127.0.0.1")
        async with server:
            yield server
            for writer in connections:
                writer.close()


    @pytest.fixture
    async def deadline():
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            yield group


    async def test_fixtures_and_test_share_a_loop(coroutine_fixture, server):
        assert coroutine_fixture is server.get_loop() is asyncio.get_running_loop()


    async def test_another_thread_cannot_use_the_loop_by_mistake():
        loop = asyncio.get_running_loop()
        for function in (loop.call_soon, lambda function: loop.call_later(0, function)):
            with pytest.raises(RuntimeError, match="not thread-safe"):
                await asyncio.to_thread(function, int)
        await asyncio.to_thread(loop.call_soon_threadsafe, int)


    async def test_a_connection_that_a_fixture_closes_is_no_leak(server):
        _reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.close()
        await writer.wait_closed()


    async def test_a_fixture_is_left_by_the_task_that_entered_it(deadline):
        deadline.create_task(asyncio.sleep(0))


    def test_a_plain_test_may_use_an_async_fixture(server):
        assert server.sockets


    @pytest.mark.parametrize("offset", [0, 1])
    @given(number=strategies.integers())
    async def test_properties_may_be_async(offset, number):
        await asyncio.sleep(0)
        assert isinstance(number + offset, int)


    class TestGroup:
        async def test_a_method_may_be_async(self, server):
            await asyncio.sleep(0)


    def test_a_closed_socket_and_a_joined_thread_are_no_leak():
        socket.create_server(("127.0.0.1", 0)).close()
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()


    def test_garbage_is_no_leak():
        garbage = [blocking.ClientSet(ClientConfig(host="http://127.0.0.1:1"))]
        garbage.append(garbage)


    def test_a_daemon_thread_is_no_leak(gate):
        threading.Thread(target=gate.wait, daemon=True).start()


    @pytest.fixture(scope="module")
    def gate():
        gate = threading.Event()
        yield gate
        gate.set()
"""

# Each test does nothing wrong except for one leak.
LEAKY = """
    import asyncio
    import socket
    import threading

    import pytest
    from listwatch import blocking
    from listwatch.client import ClientConfig

    kept = []


    async def test_task():
        kept.append(asyncio.create_task(asyncio.Event().wait(), name="left-alone"))


    @pytest.fixture
    async def forgetful():
        kept.append(asyncio.create_task(asyncio.Event().wait(), name="left-by-the-fixture"))
        yield


    def test_fixture_task(forgetful):
        pass


    async def test_task_error():
        asyncio.create_task(fail())
        await asyncio.sleep(0)


    async def fail():
        raise ValueError("never retrieved by the test")


    async def test_server():
        kept.append(await asyncio.start_server(lambda reader, writer: None, "127.0.0.1"))


    def test_listening_socket():
        kept.append(socket.create_server(("127.0.0.1", 0)))


    def test_connected_sockets():
        kept.extend(socket.socketpair())


    def test_collected_socket():
        socket.create_server(("127.0.0.1", 0))


    def test_thread(gate):
        threading.Thread(target=gate.wait, name="left-waiting").start()


    def test_blocking_object():
        kept.append(blocking.ClientSet(ClientConfig(host="http://127.0.0.1:1")))


    async def test_never_awaited():
        fail()


    @pytest.fixture(scope="module")
    def gate():
        gate = threading.Event()
        yield gate
        gate.set()  # or the interpreter would wait for the thread for ever
"""

# The report of each leak, by the detector itself or by pytest through `filterwarnings = error`.
LEFT_BEHIND = {
    "test_task": "a task: <Task pending name='left-alone'*",
    "test_fixture_task": "a task: <Task pending name='left-by-the-fixture'*",
    "test_task_error": "an error: Task exception was never retrieved ValueError('never retrieved by the test')",
    "test_server": "a socket: * laddr=('127.0.0.1', *)>",
    "test_listening_socket": "a socket: * laddr=('127.0.0.1', *)>",
    "test_connected_sockets": "a socket: *",
    "test_thread": "a thread: <Thread(left-waiting, *)>",
    "test_blocking_object": "a blocking object that was not closed",
}
WARNED_OF = {
    "test_collected_socket": "*ResourceWarning: unclosed <socket*",
    "test_never_awaited": "*RuntimeWarning: coroutine 'fail' was never awaited*",
}


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeconftest(CONFTEST.read_text())
    pytester.makeini("[pytest]\nfilterwarnings = error\naddopts = -p no:asyncio -p no:cacheprovider")
    return pytester


def test_async_tests_and_fixtures_run_and_tidy_ones_pass(project: pytest.Pytester):
    project.makepyfile(TIDY)
    project.runpytest_subprocess().assert_outcomes(passed=11)


def test_each_kind_of_leak_fails_its_test(project: pytest.Pytester):
    project.makepyfile(LEAKY)
    report = project.runpytest_subprocess()
    report.assert_outcomes(passed=len(LEFT_BEHIND), errors=len(LEFT_BEHIND), failed=len(WARNED_OF))
    for name, leak in LEFT_BEHIND.items():
        report.stdout.fnmatch_lines(
            [f"*ERROR at teardown of {name} *", "the test left behind", f"  {leak}"], consecutive=True
        )
    for name, warning in WARNED_OF.items():
        report.stdout.fnmatch_lines([f"*_ {name} _*", warning])


def test_an_async_fixture_cannot_outlive_the_loop_of_its_test(project: pytest.Pytester):
    project.makepyfile("""
        import pytest

        @pytest.fixture(scope="module")
        async def shared():
            yield

        def test_it(shared): ...
    """)
    report = project.runpytest_subprocess()
    report.assert_outcomes(errors=1)
    report.stdout.fnmatch_lines(["*ScopeMismatch*"])
