"""Generates the blocking API, `src/listwatch/blocking/*.py`, from the asynchronous classes: `make blocking`.

    python -m tools.generate_blocking             write the modules
    python -m tools.generate_blocking --check     check that the modules are up to date; exit status 1 if not

The tables below name the classes and functions of each module, and the hand-written class of `blocking/runtime` that
implements what cannot be generated: its method `_do_stop` is the body of `stop`. Signatures, types and documentation
come from the source of the asynchronous classes (`tools/blocking`).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from functools import cache
from pathlib import Path

import listwatch.client as client
import listwatch.controller as controller
import listwatch.events as events
import listwatch.informer as informer
import listwatch.leaderelection as leaderelection
import listwatch.settings as settings
import listwatch.sources.etcd as etcd
import listwatch.workqueue as workqueue
from listwatch.client.resources import typed_groups as client_groups
from listwatch.client.resources.resource_groups import ClusterScoped, Group, Namespaced
from listwatch.factory import typed_groups as informer_groups
from listwatch.factory.informer_handle import InformerGroup
from tools.blocking.modules import Output, Recipe, write_module

FOLDER = Path(__file__).parent.parent / "src" / "listwatch" / "blocking"

OUTPUTS = (
    Output(
        name="client",
        title="Clients, streams, and waiting for objects",
        classes={
            client.ByteStream: Recipe("ByteIteration", is_returned=True),
            client.WatchStream: Recipe("WatchIteration[WatchEvent[T]]", is_returned=True),
            client.LogStream: Recipe("LineIteration", is_returned=True),
            client.RemoteProcess: Recipe("ItemIteration[Output]", is_returned=True),
            client.PortStream: Recipe("ItemIteration[bytes]", is_returned=True),
            client.PortForward: Recipe(is_returned=True),
            client.Request: Recipe(is_returned=True),
            client.RESTClient: Recipe(),
            client.ResourceClient: Recipe(is_returned=True),
            client.SubresourceClient: Recipe(is_returned=True),
            client.MetadataResource: Recipe(is_returned=True),
            Namespaced: Recipe("Attributes", is_returned=True),
            ClusterScoped: Recipe("Attributes", is_returned=True),
            Group: Recipe("Attributes", is_returned=True),
            client.DiscoveryClient: Recipe(),
            client.DiscoveryCache: Recipe(),
            client.RESTMapper: Recipe(),
            client.DynamicClient: Recipe(without={"source"}),
            client.MetadataClient: Recipe(without={"source"}),
            client.ClientSet: Recipe("Attributes", without={"source"}),
            client.RetryWatcher: Recipe("RetryIteration[WatchEvent[T]]"),
            client.PodLogs: Recipe("RetryIteration[LogLine]"),
        },
        groups=client_groups,
        functions=(
            client.add_debug_container,
            client.apply,
            client.apply_files,
            client.apply_objects,
            client.apply_set,
            client.copy_from_pod,
            client.copy_to_pod,
            client.diff,
            client.retry_on_conflict,
            client.retry_on_error,
            client.until,
            client.wait_for,
        ),
        bases={
            "BaseClient": Recipe(is_returned=True),
            "BaseResourceClient": Recipe("BlockingObject, Source[T]", is_returned=True),
            "ContainerClient": Recipe(is_returned=True),
        },
    ),
    Output(
        name="informer",
        title="Informers and their sources",
        classes={
            informer.ListWatch: Recipe(
                "FunctionSource, Source[T]", made_as="ThreadedListWatch", without={"list", "watch", "of_kind"}
            ),
            informer.HandlerRegistration: Recipe(calls="in_loop", is_returned=True),
            informer.SharedIndexInformer: Recipe(
                "RunningInformer[T]",
                made_as="ThreadedInformer",
                calls="in_loop",
            ),
            informer.Informer: Recipe("PlainInformer[T]", made_as="PlainThreadedInformer", attributes={"name": "str"}),
            informer.InformerHandle: Recipe(calls="in_loop", is_returned=True, attributes={"is_released": "bool"}),
            InformerGroup: Recipe("LoopAttributes", is_returned=True),
            informer.SharedInformerFactory: Recipe("RunningFactory", made_as="ThreadedFactory", calls="in_loop"),
        },
        groups=informer_groups,
        functions=(informer.until_with_sync,),
    ),
    Output(
        name="leaderelection",
        title="Leader election",
        classes={leaderelection.LeaderElector: Recipe("Election", made_as="ThreadedElector")},
    ),
    Output(
        name="workqueue",
        title="The work queue",
        classes={
            workqueue.WorkQueue: Recipe(
                "QueueLocking[ItemT]", made_as="LockedQueue", calls="in_loop", direct={"statistics", "__len__"}
            ),
        },
    ),
    Output(
        name="controller",
        title="Controllers and managers",
        classes={
            controller.ReconcileContext: Recipe(is_returned=True),
            controller.Cluster: Recipe(is_returned=True, without={"factory"}),
            controller.Controller: Recipe(
                "RunningController",
                made_as="ThreadedController",
                calls="in_loop",
                direct={"enqueue", "get", "lister", "indexer"},
                attributes={"name": "str"},
                without={"informer"},
            ),
            controller.Manager: Recipe(
                "RunningManager", made_as="ThreadedManager", calls="in_loop", without={"factory"}
            ),
        },
        protocols=(controller.Reconciler,),
        functions=(controller.add_finalizer, controller.finalize, controller.remove_finalizer),
    ),
    Output(name="events", title="The event recorder", classes={events.EventRecorder: Recipe()}),
    Output(name="settings", title="Settings in a ConfigMap or Secret", classes={settings.Settings: Recipe()}),
    Output(
        name="etcd",
        title="Clients, stores, leases and sources of etcd",
        classes={
            etcd.EtcdClient: Recipe(),
            etcd.EtcdListWatch: Recipe("FunctionSource, Source[T]", without={"list", "watch", "watch_for_cache"}),
            etcd.EtcdLease: Recipe("LeaseHolding"),
            etcd.EtcdStore: Recipe(),
        },
    ),
)


@cache
def modules() -> dict[Path, str]:
    """Return the generated files and their text. The output is deterministic."""
    return {FOLDER / f"{each.name}.py": _formatted(write_module(each, OUTPUTS), each.name) for each in OUTPUTS}


def main() -> int:
    """Run as a command."""
    parser = argparse.ArgumentParser(description="Generate the blocking API.")
    parser.add_argument("--check", action="store_true", help="compare only; exit status 1 if a file differs")
    check = parser.parse_args().check
    stale = [path for path, text in modules().items() if not path.exists() or path.read_text() != text]
    for path in stale:
        if check:
            print(f"{path} is out of date: run `make blocking`", file=sys.stderr)
        else:
            path.write_text(modules()[path])
            print(f"wrote {path}")
    return 1 if check and stale else 0


def _formatted(text: str, name: str) -> str:
    for command in (["check", "--quiet", "--select", "I", "--fix"], ["format", "--quiet"]):
        call = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(FOLDER / f"{name}.py"), "-"]
        done = subprocess.run(call, input=text, text=True, capture_output=True, check=False)
        if done.returncode:
            raise ValueError(f"ruff cannot format the generated module {name}:\n{done.stderr}")
        text = done.stdout
    return text


if __name__ == "__main__":
    sys.exit(main())
