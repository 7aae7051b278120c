"""Records an informer on a failing kube-apiserver, and replays the recording to client-go, kopf and listwatch.

    python -m tools.replay_clients [SECONDS]

The server is killed, its history compacted, and it is started again while the informer is recorded. On the replay, the
informers of the three clients have to end with the objects of the recorded one: all fields, and the same versions.
kopf has no store, and does not report objects that were deleted while it had no watch; these are counted.
`make clients` installs kopf, and `make real` builds the servers.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.harness import environments

import listwatch as lw
from listwatch.informer import SharedInformerFactory
from listwatch.json_value import JSONObject
from listwatch.server import APIServer, Playback
from listwatch.testing import RealAPIServer
from tools.other_clients import _build_go

TIMEOUT = 120.0
SPEED = 10.0
WIDGETS = lw.GroupVersionResource("example.com", "v1", "widgets")
CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {plural: widgets, singular: widget, kind: Widget}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""
CLIENT_GO = """
package main

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		panic(err)
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(config), 0)
	resources := []schema.GroupVersionResource{
		{Version: "v1", Resource: "configmaps"},
		{Group: "example.com", Version: "v1", Resource: "widgets"},
	}
	for _, each := range resources {
		factory.ForResource(each).Informer()
	}
	factory.Start(context.Background().Done())
	for {
		store := map[string]any{}
		for _, each := range resources {
			informer := factory.ForResource(each).Informer()
			for _, key := range informer.GetStore().ListKeys() {
				item, found, _ := informer.GetStore().GetByKey(key)
				if found {
					store[each.Resource+"/"+key] = item.(*unstructured.Unstructured).Object
				}
			}
		}
		text, _ := json.Marshal(store)
		os.WriteFile(os.Args[1]+".new", text, 0o600)
		os.Rename(os.Args[1]+".new", os.Args[1])
		time.Sleep(200 * time.Millisecond)
	}
}
"""
KOPF = """
import json, os, kopf

STORE, FILE = {}, os.environ["STORE"]

@kopf.on.event("", "v1", "configmaps")
@kopf.on.event("example.com", "v1", "widgets")
async def changed(event, body, resource, **_):
    key = f"{resource.plural}/{body['metadata']['namespace']}/{body['metadata']['name']}"
    if event["type"] == "DELETED":
        STORE.pop(key, None)
    else:
        STORE[key] = json.loads(json.dumps(dict(body)))
    with open(FILE + ".new", "w") as file:
        json.dump(STORE, file)
    os.replace(FILE + ".new", FILE)
"""

Store = dict[str, JSONObject]


def _without_kind(tree: JSONObject) -> JSONObject:
    """Items of lists do not repeat their kind, and clients treat that differently."""
    return {name: value for name, value in tree.items() if name not in ("kind", "apiVersion")}


def _store_of(factory: SharedInformerFactory) -> Store:
    found: Store = {}
    for resource, informer in (
        ("configmaps", factory.core_v1.configmaps.informer),
        ("widgets", factory.informer(WIDGETS).informer),
    ):
        for each in informer.indexer.list():
            found[f"{resource}/{each.key}"] = _without_kind(each.to_dict())
    return found


# --- Recording


async def _churn(client: lw.ClientSet, seconds: float) -> int:
    """Create, change and delete objects; requests that fail are skipped."""
    chance, writes, until = random.Random(1), 0, time.monotonic() + seconds
    maps = client.core_v1.configmaps("default")
    widgets = client.dynamic.resource(WIDGETS, namespace="default")
    while time.monotonic() < until:
        target = chance.choice([maps, widgets])
        name, action = f"object-{chance.randrange(60)}", chance.random()
        try:
            async with asyncio.timeout(5):
                if action < 0.5:
                    await target.create({"metadata": {"name": name}, "data": {"number": str(writes)}})
                elif action < 0.8:
                    await target.patch(name, {"data": {"number": str(writes)}})
                else:
                    await target.delete(name)
            writes += 1
        except (lw.errors.ListWatchError, TimeoutError):
            await asyncio.sleep(0.01)
    return writes


async def _fail(server: RealAPIServer, seconds: float) -> None:
    """Kill the server, compact its history, and start it again."""
    await asyncio.sleep(seconds / 3)
    await server.kill_api_server()
    await asyncio.sleep(1)
    await server.start_api_server()
    await asyncio.sleep(seconds / 6)
    await server.kill_api_server()
    await server.compact()
    await server.start_api_server()


async def _record(file: Path, seconds: float) -> tuple[Store, int]:
    async with RealAPIServer() as server, lw.ClientSet(server.config) as writer:
        definitions = writer.dynamic.resource("crd")
        await definitions.create(lw.Unstructured.from_yaml(CRD))
        await lw.wait_for(definitions, "widgets.example.com", "ready", timeout=30)
        async with (
            lw.ClientSet(server.config, record=file) as client,
            lw.SharedInformerFactory(client) as factory,
        ):
            namespaces = factory.core_v1.namespaces  # kopf starts only if there are namespaces
            for handle in (namespaces, factory.core_v1.configmaps, factory.informer(WIDGETS)):
                await handle.informer.wait_for_sync(timeout=60)
            writes, _ = await asyncio.gather(_churn(writer, seconds), _fail(server, seconds))
            maps = await writer.core_v1.configmaps().list()
            widgets = await writer.dynamic.resource(WIDGETS).list()
            real = {f"configmaps/{each.key}": _without_kind(each.to_dict()) for each in maps}
            real |= {f"widgets/{each.key}": _without_kind(each.to_dict()) for each in widgets}
            await _until(lambda: _store_of(factory), real, "the recorded informer")
            return real, writes


# --- Replay


async def _until(read: Callable[[], Store], expected: Store, what: str) -> None:
    deadline = time.monotonic() + TIMEOUT
    while (found := read()) != expected:
        if time.monotonic() > deadline:
            different = sorted(key for key in {*found, *expected} if found.get(key) != expected.get(key))
            raise SystemExit(f"{what} differs in {len(different)} of {len(expected)} objects: {different[:5]}")
        await asyncio.sleep(0.1)
    print(f"{what}: the same {len(expected)} objects", flush=True)


def _reader(file: Path) -> Callable[[], Store]:
    def read() -> Store:
        stored = json.loads(file.read_text()) if file.exists() else {}
        return {key: _without_kind(tree) for key, tree in stored.items()}

    return read


def _only(found: Store, expected: Store) -> Store:
    return {key: tree for key, tree in found.items() if key in expected}


async def _replay(file: Path, expected: Store, folder: Path) -> None:
    command = _build_go(CLIENT_GO, folder)
    (folder / "observer.py").write_text(KOPF)
    kopf = [
        str(environments.HOME / "kopf" / "bin" / "python"),
        "-m",
        "kopf",
        "run",
        "-A",
        "--standalone",
        "observer.py",
    ]
    playback = Playback(file, speed=SPEED, wait_for_watches=6)
    async with APIServer(tls=True, replay=playback) as server, lw.ClientSet(server.config) as client:
        server.kubeconfig(folder / "kubeconfig")
        environment = {**os.environ, "KUBECONFIG": str(folder / "kubeconfig"), "STORE": str(folder / "kopf.json")}
        processes = []
        try:
            with (folder / "output.log").open("wb") as output:
                for each in ([*command, str(folder / "client-go.json")], kopf):
                    started = asyncio.create_subprocess_exec(
                        *each, cwd=folder, env=environment, stdout=output, stderr=output
                    )
                    processes.append(await started)
            async with lw.SharedInformerFactory(client) as factory:
                _store_of(factory)  # starts the informers
                begun = time.monotonic()
                async with asyncio.timeout(TIMEOUT + playback.summary.duration / SPEED):
                    await playback.wait_finished()
                print(f"{playback.summary.duration:.0f} s were played in {time.monotonic() - begun:.1f} s", flush=True)
                await _until(lambda: _store_of(factory), expected, "listwatch on the replay")
                await _until(_reader(folder / "client-go.json"), expected, "client-go on the replay")
                # kopf does not report objects that are deleted while it has no watch: it lists again without them.
                kopf_store = _reader(folder / "kopf.json")
                await _until(lambda: _only(kopf_store(), expected), expected, "kopf on the replay")
                print(f"and {len(kopf_store()) - len(expected)} whose deletion kopf did not see, for lack of a watch")
        finally:
            for each in processes:
                if each.returncode is None:
                    each.terminate()
                await each.wait()


async def _main(seconds: float) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "incident.lwrec"
        expected, writes = await _record(file, seconds)
        size = file.stat().st_size
        print(f"recorded {writes} writes in {seconds:.0f} s: {len(expected)} objects at the end, {size / 1e3:.0f} kB")
        await _replay(file, expected, folder)


if __name__ == "__main__":
    asyncio.run(_main(float(sys.argv[1]) if len(sys.argv) > 1 else 30.0))
