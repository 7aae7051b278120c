"""`make real`: the contract tests on the embedded and on a real server, and tests of outages of a real cluster.

python -m tools.run_real
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from listwatch.testing.real.real_api_server_thread import RealAPIServerThread
from tools import build_realcluster, check_models, generate_bootstrap
from tools.build_realcluster import OLD_ETCD

CONTRACT = "tests/contract"
# Each process starts its own server, which needs memory.
IN_PARALLEL = ("-n", "auto", "--maxprocesses", "4")


@dataclass(frozen=True)
class Outcome:
    """The result of a test run."""

    title: str
    succeeded: bool
    passed: frozenset[str]
    notes: tuple[str, ...]
    """The properties that the tests recorded."""
    seconds: float

    def __str__(self) -> str:
        first = f"{len(self.passed):6} cases passed {self.title}, {self.seconds:.0f} s"
        return "\n".join([first, *(f"           {note}" for note in self.notes)])


def main() -> int:
    if failed := build_realcluster.main():
        return failed
    embedded = run("on the embedded server", CONTRACT, *IN_PARALLEL, LISTWATCH_CONTRACT_SERVER="embedded")
    real = run("on the real server", CONTRACT, *IN_PARALLEL, LISTWATCH_CONTRACT_SERVER="real")
    clusters = run("in clusters with outages", "tests/real", *IN_PARALLEL)
    outcomes = [embedded, real, run_on_old_etcd(), clusters]
    models_match = check_models_on_real_server()
    bootstrap_matches = generate_bootstrap.main(["--check"]) == 0
    differences = sorted(embedded.passed ^ real.passed)
    print("\nmake real:", *outcomes, sep="\n")
    if differences:
        print("passed on only one of the two servers:", *differences, sep="\n       ")
    everything = [*(outcome.succeeded for outcome in outcomes), models_match, bootstrap_matches, not differences]
    return 0 if all(everything) else 1


def run_on_old_etcd() -> Outcome:
    """Run the contract of informers on a server that rejects sendInitialEvents."""
    version = OLD_ETCD.version
    title = f"on the real server with etcd {version}"
    return run(title, f"{CONTRACT}/informer", LISTWATCH_CONTRACT_SERVER="real", LISTWATCH_CONTRACT_ETCD_VERSION=version)


def check_models_on_real_server() -> bool:
    print("\n--- the models, compared with the real server", flush=True)
    with RealAPIServerThread() as server, tempfile.TemporaryDirectory() as folder:
        token, certificate = Path(folder, "token"), Path(folder, "ca.crt")
        token.write_text(server.token)
        certificate.write_bytes(server.ca_certificate)
        return check_models.main([server.url, f"--token-file={token}", f"--ca-file={certificate}"]) == 0


def run(title: str, *arguments: str, **environment: str) -> Outcome:
    """Run pytest with these arguments and environment variables."""
    print(f"\n--- {arguments[0]} {title}", flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        reporting = f"--junitxml={report}", "-o", "junit_family=xunit1"  # xunit2 has no properties of test cases
        command = [sys.executable, "-m", "pytest", "-q", *arguments, *reporting]
        ended = subprocess.run(command, env={**os.environ, **environment}, check=False)
        results = ElementTree.parse(report).getroot() if report.exists() else ElementTree.Element("nothing")
    seconds = time.monotonic() - began
    return Outcome(title, ended.returncode == 0, frozenset(passed_cases(results)), tuple(notes(results)), seconds)


def notes(report: ElementTree.Element) -> Iterator[str]:
    for recorded in report.iterfind(".//testcase/properties/property"):
        yield f"{recorded.get('name')}: {recorded.get('value')}"


def passed_cases(report: ElementTree.Element) -> Iterator[str]:
    """The names of test cases that passed."""
    for case in report.iter("testcase"):
        if not any(case.find(result) is not None for result in ("failure", "error", "skipped")):
            yield f"{case.get('classname')}.{case.get('name')}"


if __name__ == "__main__":
    sys.exit(main())
