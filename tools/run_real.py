"""What `make real` runs: one contract on two servers, and what a real cluster does to informers and controllers.

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
from tools import build_realcluster, check_models
from tools.build_realcluster import OLD_ETCD

CONTRACT = "tests/contract"
# Each process has a server of its own; these need memory.
IN_PARALLEL = ("-n", "auto", "--maxprocesses", "4")


@dataclass(frozen=True)
class Outcome:
    """How a run of tests ended."""

    title: str
    succeeded: bool
    passed: frozenset[str]
    notes: tuple[str, ...]
    """What the tests have recorded."""
    seconds: float

    def __str__(self) -> str:
        first = f"{len(self.passed):6} cases passed {self.title}, {self.seconds:.0f} s"
        return "\n".join([first, *(f"           {note}" for note in self.notes)])


def main() -> int:
    if failed := build_realcluster.main():
        return failed
    embedded = run("on the embedded server", CONTRACT, *IN_PARALLEL, LISTWATCH_CONTRACT_SERVER="embedded")
    real = run("on the real server", CONTRACT, *IN_PARALLEL, LISTWATCH_CONTRACT_SERVER="real")
    clusters = run("in clusters that are taken apart", "tests/real", *IN_PARALLEL)
    outcomes = [embedded, real, run_on_old_etcd(), clusters]
    models_are_right = check_models_on_real_server()
    differences = sorted(embedded.passed ^ real.passed)
    print("\nmake real:", *outcomes, sep="\n")
    if differences:
        print("only on one of the two servers:", *differences, sep="\n       ")
    everything = [*(outcome.succeeded for outcome in outcomes), models_are_right, not differences]
    return 0 if all(everything) else 1


def run_on_old_etcd() -> Outcome:
    """The informers' part of the contract, where no list can be streamed."""
    version = OLD_ETCD.version
    title = f"on the real server with etcd {version}"
    return run(title, f"{CONTRACT}/informer", LISTWATCH_CONTRACT_SERVER="real", LISTWATCH_CONTRACT_ETCD_VERSION=version)


def check_models_on_real_server() -> bool:
    print("\n--- the models, held against the real server", flush=True)
    with RealAPIServerThread() as server, tempfile.TemporaryDirectory() as folder:
        token, certificate = Path(folder, "token"), Path(folder, "ca.crt")
        token.write_text(server.token)
        certificate.write_bytes(server.ca_certificate)
        return check_models.main([server.url, f"--token-file={token}", f"--ca-file={certificate}"]) == 0


def run(title: str, *arguments: str, **environment: str) -> Outcome:
    """Run pytest with these arguments, in this environment."""
    print(f"\n--- {arguments[0]} {title}", flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        reporting = f"--junitxml={report}", "-o", "junit_family=xunit1"  # the newer one has no place for notes
        command = [sys.executable, "-m", "pytest", "-q", *arguments, *reporting]
        ended = subprocess.run(command, env={**os.environ, **environment}, check=False)
        said = ElementTree.parse(report).getroot() if report.exists() else ElementTree.Element("nothing")
    seconds = time.monotonic() - began
    return Outcome(title, ended.returncode == 0, frozenset(passed_cases(said)), tuple(notes(said)), seconds)


def notes(report: ElementTree.Element) -> Iterator[str]:
    for recorded in report.iterfind(".//testcase/properties/property"):
        yield f"{recorded.get('name')}: {recorded.get('value')}"


def passed_cases(report: ElementTree.Element) -> Iterator[str]:
    """The names of those of which nothing bad is said, and which were not skipped."""
    for case in report.iter("testcase"):
        if not any(case.find(trouble) is not None for trouble in ("failure", "error", "skipped")):
            yield f"{case.get('classname')}.{case.get('name')}"


if __name__ == "__main__":
    sys.exit(main())
