"""The scenarios of `make conformance`, and how the outputs of kubectl are normalized and compared."""

from itertools import pairwise
from pathlib import Path

import pytest
from conformance.kubectl.commands import MANIFESTS, Command, read_scenarios
from conformance.kubectl.comparison import Comparison, Output
from conformance.kubectl.normalize import normalized


def scenario_of(folder: Path, text: str) -> list[Command]:
    (folder / "01-some-thing.txt").write_text(text)
    [scenario] = read_scenarios(folder)
    assert (scenario.name, scenario.namespace) == ("some-thing", "scenario-some-thing")
    return [*scenario.commands]


def test_a_scenario_has_sections_commands_and_directives(tmp_path: Path):
    text = "# Read\nget pods -o 'a b'\n\n# Watch\n[until] [lines=2] get pods -n {namespace}\n"
    first, second = scenario_of(tmp_path, text)
    assert (first.section, first.arguments("n")) == ("Read", ["--namespace", "n", "get", "pods", "-o", "a b"])
    assert (second.section, second.lines, second.until_it_succeeds) == ("Watch", 2, True)
    assert second.arguments("mine") == ["--namespace", "mine", "get", "pods", "-n", "mine"]


def test_an_unknown_directive_is_an_error(tmp_path: Path):
    with pytest.raises(ValueError, match="twice"):
        scenario_of(tmp_path, "[twice] get pods\n")


def test_every_scenario_can_be_read_and_its_files_exist():
    for scenario in read_scenarios():
        for command in scenario.commands:
            arguments = command.arguments(scenario.namespace)
            files = [name for flag, name in pairwise(arguments) if flag == "-f"]
            assert all((MANIFESTS / name).exists() for name in files), command.text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("web   1/1   3s", "web      1/1  2m4s"),
        ("uid: 0b2f8a34-5c1d-4e6f-8a9b-0c1d2e3f4a5b", "uid: 1b2f8a34-5c1d-4e6f-8a9b-0c1d2e3f4a5b"),
        ('resourceVersion: "7"', 'resourceVersion: "81"'),
        ("created 2026-01-01T00:00:00Z", "created 2027-11-30T10:20:30.123456Z"),
        ("dial https://127.0.0.1:3321/api", "dial https://127.0.0.1:65000/api"),
        ("Server Version: v1.36.3", "Server Version: v1.37.0-rc.1"),
        ("pod/web-x7k2p created", "pod/web-bcdfg created"),
        ('{"b": 1, "a": 2}', '{"a":2,"b":1}'),
        ("in /tmp/one/kubeconfig", "in /tmp/other/kubeconfig"),
    ],
)
def test_what_differs_between_any_two_runs_is_replaced(one: str, other: str):
    assert normalized(one, "/tmp/one") == normalized(other, "/tmp/other")


@pytest.mark.parametrize(("one", "other"), [("web 1/1", "web 0/1"), ("configmap/a created", "configmap/b created")])
def test_other_differences_stay(one: str, other: str):
    assert normalized(one, "/tmp/one") != normalized(other, "/tmp/one")


def compared(real: Output, embedded: Output, differs: str = "") -> Comparison:
    return Comparison("get", Command("Read", "get pods", differs=differs), real, embedded)


def test_outputs_are_equal_only_if_exit_code_and_both_streams_are():
    right = Output(0, "web", "")
    assert compared(right, right).equal
    for wrong in (Output(1, "web", ""), Output(0, "api", ""), Output(0, "web", "Warning: old")):
        found = compared(right, wrong)
        assert not found.equal
        assert "+" in found.difference()


def test_a_command_whose_outputs_cannot_be_equal_has_to_succeed_on_both_servers():
    assert compared(Output(0, "a", ""), Output(0, "b", ""), differs="versions").equal
    assert not compared(Output(0, "a", ""), Output(1, "", "no"), differs="versions").equal


def test_parts_of_outputs_are_compared():
    def equal(real: str, embedded: str, **options: object) -> bool:
        command = Command("Read", "get pods", **options)  # type: ignore[arg-type]  # each option has another type
        return Comparison("get", command, Output(0, real, ""), Output(0, embedded, "")).equal

    assert equal("waiting\nwaiting\ndone", "waiting\ndone", last=True)
    assert not equal("done", "failed", last=True)
    assert equal("b=1 a=2", "a=2 b=1", unordered=True)
    assert not equal("b=1 a=2", "a=2 b=2", unordered=True)
    real = "KIND: Pod\n  spec  <PodSpec> -required-\n    What it is."
    assert equal(real, "KIND: Pod\n  spec  <PodSpec>\n    The spec.\n  more  <string>", fields="1.37")
    assert not equal(real, "KIND: Pod\n  spec  <string>", fields="1.37")
    assert equal('{\n "go": "1"\n}', '{\n "go": "2"\n}', keys="versions")
    assert not equal('{\n "go": "1"\n}', '{\n "git": "1"\n}', keys="versions")


def test_a_scenario_of_helm_may_use_kubectl_and_run_commands_while_it_watches(tmp_path: Path):
    text = "# program: helm\n# Releases\ninstall web chart\n[lines=2] [then: label pod a b=c] kubectl get pods -w\n"
    install, watch = scenario_of(tmp_path, text)
    assert (install.program, watch.program) == ("helm", "kubectl")
    assert watch.arguments_of_next("n") == ["--namespace", "n", "label", "pod", "a", "b=c"]
    assert install.arguments_of_next("n") == []
