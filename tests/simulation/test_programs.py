"""Containers whose programs end by themselves: simple commands, and those that a test gives."""

from math import inf
from typing import Any

import pytest
from tests.simulation.simulated import Scene, pod, simulate

from listwatch.errors import BadRequestError, UsageError
from listwatch.models.core_v1 import Container, Pod
from listwatch.simulation import Program, Stage
from listwatch.simulation.programs import program_of, run_command


@pytest.mark.parametrize(
    ("command", "seconds", "code", "output"),
    [
        ("true", 0.0, 0, ""),
        ("/bin/false", 0.0, 1, ""),
        ("sleep 2m", 120.0, 0, ""),
        ("sleep infinity", inf, 0, ""),
        ("echo a b", 0.0, 0, "a b\n"),
        ("echo", 0.0, 0, "\n"),
        ("echo -n a", 0.0, 0, "a"),
        ("sh -c|exit 3", 0.0, 3, ""),
        ("/bin/sh -c|echo begin; sleep 1.5 && sleep 2; echo 'the  end'; exit 256", 3.5, 0, "begin\nthe  end\n"),
        ("sh -c|echo a; sleep infinity; echo b", inf, 0, "a\n"),
        ("bash -c|false && echo a", 0.0, 1, ""),
        ("sh -c|false\nexit", 0.0, 1, ""),
        ("sh -c|true", 0.0, 0, ""),
    ],
)
def test_simple_commands_are_understood(command: str, seconds: float, code: int, output: str):
    words = [*command.partition("|")[0].split(), *([command.partition("|")[2]] if "|" in command else [])]
    assert run_command(words) == Program(seconds=seconds, exit_code=code, output=output)


def test_a_command_after_a_line_break_depends_on_the_one_before_it():
    assert run_command(["sh", "-c", "false &&\n  echo a"]) == Program(seconds=0.0, exit_code=1)


@pytest.mark.parametrize("script", [f"echo {'a' * 1_000_000}", f"echo{' ' * 1_000_000}a"], ids=["word", "spaces"])
def test_a_long_script_is_not_understood(script: str):
    assert run_command(["sh", "-c", script]) is None


@pytest.mark.parametrize(
    "script", ["while true; do sleep 1; done", "exit $RANDOM", "true | false", "sleep 1 &", "ls", "echo 'a"]
)
def test_other_scripts_are_not_understood(script: str):
    assert run_command(["sh", "-c", script]) is None


def test_the_pause_image_runs_forever():
    assert program_of(Container(name="c", image="example.com/a/pause:3.10")) == Program()
    assert program_of(Container(name="c", image="nginx:1")) is None


def test_impossible_programs_are_rejected():
    with pytest.raises(UsageError, match="less than 0 seconds"):
        Program(seconds=-1)
    with pytest.raises(UsageError, match="from 0 to 255"):
        Program(exit_code=300)


def container(name: str, *command: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "image": "busybox", "command": [*command], **more}


def test_pods_end_when_their_commands_do():
    async def scenario(scene: Scene) -> None:
        pods = scene.client.core_v1.pods("default")
        two = [container("a", "sleep", "5"), container("b", "sh", "-c", "sleep 20; exit 3")]
        await pods.create(pod("two", containers=two, restartPolicy="Never"))
        await pods.create(pod("again", containers=[container("a", "false")], restartPolicy="OnFailure"))
        await pods.create(pod("given", labels={"given": "yes"}, restartPolicy="Never"))
        half = await scene.wait(
            pods, "two", lambda it: any(each.state.terminated for each in it.status.container_statuses)
        )
        assert half.status.phase == "Running"
        assert half.status.container_statuses[1].state.running
        assert [each.message for each in half.status.conditions if each.type == "Ready"] == [
            "containers with unready status: [a]"
        ]
        ended = await scene.wait(pods, "two", lambda it: it.status.phase == "Failed")
        assert [each.state.terminated.exit_code for each in ended.status.container_statuses] == [0, 3]
        again = await scene.wait(
            pods, "again", lambda it: [each.restart_count for each in it.status.container_statuses] == [2]
        )
        assert again.status.phase == "Running"
        assert (await pods.get("given")).status.phase == "Succeeded"

    def program(item: Pod, _container: Container) -> Program | None:
        return Program(seconds=3.0) if item.labels.get("given") else None

    simulate(scenario, program=program)


def test_an_init_container_that_fails_keeps_the_others_from_starting():
    async def scenario(scene: Scene) -> None:
        pods = scene.client.core_v1.pods("default")
        init = [container("one", "true"), container("two", "false"), container("three", "true")]
        await pods.create(pod("never", initContainers=init, restartPolicy="Never"))
        await pods.create(pod("always", initContainers=init))
        failed = await scene.wait(pods, "never", lambda it: it.status.phase == "Failed")
        assert [_state(each) for each in failed.status.init_container_statuses] == [
            "Completed",
            "Error",
            "PodInitializing",
        ]
        tried = await scene.wait(
            pods, "always", lambda it: any(each.restart_count == 2 for each in it.status.init_container_statuses)
        )
        assert tried.status.phase == "Pending"
        assert [_state(each) for each in tried.status.init_container_statuses] == [
            *("Completed", "CrashLoopBackOff", "PodInitializing")
        ]
        assert not any(each.started for each in tried.status.container_statuses)

    simulate(scenario)


def _state(status: Any) -> str:
    return str((status.state.terminated or status.state.waiting).reason)


def test_a_readiness_probe_whose_command_fails_is_never_passed():
    async def scenario(scene: Scene) -> None:
        pods = scene.client.core_v1.pods("default")
        for name, command, delay in (("bad", "false", 0), ("good", "true", 30)):
            probe = {"exec": {"command": [command]}, "initialDelaySeconds": delay}
            await pods.create(pod(name, containers=[{"name": "a", "image": "web:1", "readinessProbe": probe}]))
        began = scene.clock.monotonic()
        await scene.wait(pods, "good", "condition=Ready")
        assert scene.clock.monotonic() - began >= 30
        bad = await pods.get("bad")
        assert bad.status.phase == "Running"
        assert not bad.status.container_statuses[0].ready

    simulate(scenario)


def test_a_job_fails_by_the_exit_code_of_a_stage():
    async def scenario(scene: Scene) -> None:
        rule = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}
        spec = {
            "backoffLimit": 6,
            "podFailurePolicy": {"rules": [rule]},
            "template": {"spec": {"containers": [{"name": "a", "image": "x"}], "restartPolicy": "Never"}},
        }
        jobs = scene.client.batch_v1.jobs("default")
        await jobs.create({"metadata": {"name": "doomed"}, "spec": spec})
        job = await scene.wait(jobs, "doomed", "condition=Failed")
        assert [each.reason for each in job.status.conditions] == ["PodFailurePolicy"] * 2
        assert job.status.failed == 1

    simulate(scenario, stages=[Stage("exit", "ready", "crash", exit_code=42)])


def test_the_log_of_a_container_is_what_its_program_prints():
    async def scenario(scene: Scene) -> None:
        pods = scene.client.core_v1.pods("default")
        once = container("a", "sh", "-c", "echo one; echo two; sleep 10")
        await pods.create(pod("once", containers=[once], restartPolicy="Never"))
        await scene.wait(pods, "once", lambda item: item.status.phase != "Pending")
        assert await pods.logs("once") == "one\ntwo\n"
        assert await pods.logs("once", tail_lines=1) == "two\n"
        with pytest.raises(BadRequestError, match='previous terminated container "a" in pod "once" not found'):
            await pods.logs("once", previous=True)

        await pods.create(pod("again", containers=[container("a", "sh", "-c", "echo one; exit 1")]))
        await scene.wait(pods, "again", lambda item: any(each.restart_count for each in item.status.container_statuses))
        assert await pods.logs("again", previous=True) == "one\n"

    simulate(scenario)


def test_a_log_is_followed_until_its_container_ends():
    async def scenario(scene: Scene) -> None:
        pods = scene.client.core_v1.pods("default")
        await pods.create(pod("web", containers=[container("a", "sh", "-c", "echo one; sleep 3600")]))
        await scene.wait(pods, "web", "ready")
        async with pods.follow_logs("web") as log:
            assert await anext(log) == "one"
            await pods.delete("web")
            assert [line async for line in log] == []

    simulate(scenario)


def test_a_container_that_has_not_started_has_no_log():
    async def scenario(scene: Scene) -> None:
        pods = scene.client.core_v1.pods("default")
        await pods.create(pod("slow"))
        await scene.wait(pods, "slow", lambda item: bool(item.status.container_statuses))
        with pytest.raises(BadRequestError, match='container "main" in pod "slow" is waiting to start: ContainerCr'):
            await pods.logs("slow")

    simulate(scenario, stages=[Stage("never", "waiting", "start", delay=1e9)])


def test_a_test_declares_what_a_container_prints():
    async def scenario(scene: Scene) -> None:
        pods = scene.client.core_v1.pods("default")
        await pods.create(pod("web"))
        await scene.wait(pods, "web", "ready")
        assert await pods.logs("web") == "listening\n"

    simulate(scenario, program=lambda pod, container: Program(output="listening\n"))
