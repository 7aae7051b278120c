"""What does not apply to the embedded server or is known to fail on it, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from conformance.results import Outcome, Result

__all__ = ["CONTROLLER_RUNTIME", "KUBERNETES", "SIMULATED", "Expectation", "judged", "skip_pattern", "skipped"]


@dataclass(frozen=True)
class Expectation:
    """Tests whose names match the pattern have this outcome, for this reason."""

    pattern: str
    reason: str
    outcome: Outcome = "not applicable"
    run: bool = False
    """Whether the tests are run; some would wait for many minutes until they fail."""

    def matches(self, name: str) -> bool:
        return re.search(self.pattern, name) is not None


_NEEDS_PODS = "needs containers that run, on the real server as well"

KUBERNETES: tuple[Expectation, ...] = (Expectation(r"Aggregator .*Sample API Server", _NEEDS_PODS),)
CONTROLLER_RUNTIME: tuple[Expectation, ...] = ()

_OUTPUT = "needs the output of a container"
_NETWORK = "needs a container that answers on the network"
_PROBES = "needs a container that is probed"
_VOLUMES = "needs volumes that are mounted"
_CGROUPS = "needs containers with cgroups"

SIMULATED: tuple[Expectation, ...] = (
    Expectation(r"Downward API should provide", _OUTPUT),
    Expectation(r"\[sig-node\] (ConfigMap|Secrets) should be consumable", _OUTPUT),
    Expectation(r"\[sig-node\] (Containers|Security Context|KubeletManagedEtcHosts|ImageVolume)", _OUTPUT),
    Expectation(r"Variable Expansion should (allow|succeed|verify)", _OUTPUT),
    Expectation(r"Variable Expansion should fail", _VOLUMES),
    Expectation(r"Kubelet when scheduling .*(print the output|/etc/hosts|root filesystem)", _OUTPUT),
    Expectation(r"Pods should (contain environment variables|support (remote command|retrieving logs))", _OUTPUT),
    Expectation(r"Container Runtime blackbox test on terminated container", _OUTPUT),
    Expectation(r"Sysctls .* should support sysctls", _OUTPUT),
    Expectation(r"Ephemeral Containers", _OUTPUT),
    Expectation(r"Container Lifecycle Hook|PreStop", _NETWORK),
    Expectation(r"should serve a basic image on each replica", _NETWORK),
    Expectation(r"\[sig-network\] (DNS|HostPort|Networking|Proxy) ", _NETWORK),
    Expectation(r"\[sig-network\] Services should (be able|have session affinity|serve)", _NETWORK),
    Expectation(r"\[sig-network\] EndpointSlice should support a Service with multiple", _NETWORK),
    Expectation(r"Probing container (should|with readiness probe that fails)", _PROBES),
    Expectation(r"Pod InPlace Resize Container", _CGROUPS),
)


def skip_pattern(expectations: Iterable[Expectation], *, on_real_server: bool = False) -> str:
    """A regular expression for the tests that are not run; known failures run on the real server."""
    without = [each for each in expectations if not each.run]
    return "|".join(each.pattern for each in without if not on_real_server or each.outcome == "not applicable")


def judged(name: str, *, passed: bool, expectations: Iterable[Expectation], details: str = "") -> Result:
    """The result of a test that ran: a failure needs a reason, and a success must have none."""
    known = next((each for each in expectations if each.run and each.matches(name)), None)
    if passed:
        details = f"expected to fail: {known.reason}" if known else ""
        return Result(name, "passed", expected=known is None, details=details)
    if known:
        return Result(name, known.outcome, known.reason)
    return Result(name, "failed", expected=False, details=details)


def skipped(name: str, expectations: Iterable[Expectation], why: str = "") -> Result:
    """The result of a test that did not run; `why` is the reason that it gave itself."""
    known = next((each for each in expectations if not each.run and each.matches(name)), None)
    return Result(name, known.outcome, known.reason) if known else Result(name, "not applicable", why)
