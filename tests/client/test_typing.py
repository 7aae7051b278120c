"""What type checkers know of the clients: Pod, and not Any. The sample program uses every client."""

import re
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import listwatch as lw
from listwatch.client.conditions import ready
from listwatch.client.until import until
from listwatch.meta import Resource
from listwatch.models.core_v1 import ConfigMap, Pod
from listwatch.objects.object import Object, lazy


class Widget(Object, resource=Resource("example.com", "v1", "Widget", "widgets")):
    spec: dict[str, int] = lazy(dict[str, int])


async def main() -> None:
    config = lw.ClientConfig(host="http://127.0.0.1:8001", token="x")
    reveal_type(lw.load_config())  # ClientConfig
    async with lw.ClientSet(config) as client:
        reveal_type(client)  # ClientSet
        pods = client.core_v1.pods("default")
        reveal_type(pods)  # ResourceClient[Pod]
        source: lw.ListerWatcher[Pod] = pods.selecting(label_selector="app=web")
        reveal_type(lw.SharedIndexInformer(source, Pod))  # SharedIndexInformer[Pod]
        reveal_type(lw.SharedInformerFactory(client))  # SharedInformerFactory
        reveal_type(await pods.get("web-0"))  # Pod
        reveal_type((await pods.get("web-0")).spec.containers[0].image)  # str | None
        page = await pods.list(label_selector={"app": ["web", "api"]}, field_selector="spec.nodeName=n1", limit=500)
        reveal_type(page)  # ObjectList[Pod]
        for pod in page:
            reveal_type(pod)  # Pod
        async for pages in pods.pages():
            reveal_type(pages)  # ObjectList[Pod]
        async for event in client.core_v1.pods().watch(resource_version=page.resource_version):
            reveal_type(event)  # WatchEvent[Pod]
            reveal_type(event.object)  # Pod
        async with pods.watch() as stream:
            reveal_type(await anext(stream))  # WatchEvent[Pod]
        made = await client.core_v1.configmaps("default").create(ConfigMap(data={"a": "b"}))
        reveal_type(made)  # ConfigMap
        reveal_type(await pods.patch("web-0", {"metadata": {}}))  # Pod
        reveal_type(await pods.apply(Pod(), field_manager="me"))  # Pod
        reveal_type(await pods.delete("web-0"))  # Pod | None
        reveal_type(await pods.delete_collection())  # ObjectList[Pod]
        reveal_type(await client.apps_v1.deployments("x").get_scale("web"))  # Scale
        reveal_type(await client.core_v1.serviceaccounts("x").create_token("y"))  # TokenRequest
        reveal_type(await pods.logs("web-0"))  # str
        async for line in pods.follow_logs("web-0"):
            reveal_type(line)  # str
        reveal_type(client.core_v1.nodes())  # ResourceClient[Node]
        reveal_type(client.rbac_v1.clusterroles())  # ResourceClient[ClusterRole]
        reveal_type(client.resource(Widget, namespace="x"))  # ResourceClient[Widget]
        reveal_type(await client.resource(Widget, namespace="x").selecting(label_selector="a=b").get("w"))  # Widget
        reveal_type(pods.subresource("status", Pod))  # SubresourceClient[Pod]
        reveal_type(pods.subresource("proxy"))  # SubresourceClient[Unstructured]
        reveal_type(await lw.wait_for(pods, "web-0", ready))  # Pod | None
        reveal_type(await lw.wait_for(pods, "web-0", lambda pod: pod is not None and bool(pod.spec)))  # Pod | None
        async for event in lw.RetryWatcher(pods, "7"):
            reveal_type(event.object)  # Pod
        reveal_type(await until(pods, "7", lambda event: event.object.spec.node_name == "n1"))  # WatchEvent[Pod]
        reveal_type(await lw.retry_on_conflict(lambda: pods.get("web-0")))  # Pod
        reveal_type(await lw.apply_files(client, "deploy/", field_manager="me"))  # list[Unstructured]
        reveal_type((await client.discovery.server_groups_and_resources()).resources)  # tuple[Resource, ...]

    rest = lw.RESTClient(config)
    reveal_type((await rest.get().namespace("default").resource("pods").name("web-0").do()).into(Pod))  # Pod
    dynamic = lw.DynamicClient(config)
    reveal_type(await dynamic.resource("apps/v1", "Deployment").namespace("default").list())  # ObjectList[Unstructured]
    metadata = lw.MetadataClient(config)
    reveal_type(await metadata.resource("apps/v1", "Deployment").get("x"))  # PartialObjectMetadata
    discovery = lw.DiscoveryClient(config)
    reveal_type(await discovery.server_version())  # ServerVersion
    reveal_type(await lw.RESTMapper(discovery).resource_for("po"))  # Resource
"""

MISTAKES = """
import listwatch as lw

async def main(client: lw.ClientSet) -> None:
    client.core_v1.podz("default")
    client.core_v2.pods("default")
    client.core_v1.nodes("default")
    await client.core_v1.pods("default").get(7)
    await client.core_v1.pods("default").delete("a", propagation_policy="Sideways")
    await client.core_v1.pods("default").list(label_selectr="a=b")
    (await client.core_v1.pods("default").get("a")).spec.node
"""


def check(program: str, folder: Path) -> str:
    file = folder / "sample.py"
    file.write_text(program)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--python-version", "3.11", str(file)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False).stdout


def revealed(output: str) -> dict[int, str]:
    """What is revealed in each line, without the modules that names are in."""
    found = re.findall(r'sample\.py:(\d+): note: Revealed type is "(.*)"', output)
    return {int(line): re.sub(r"\b(?:\w+\.)+(?=\w)", "", text).replace("?", "") for line, text in found}


def test_the_sample_program_is_typed_throughout(tmp_path: Path):
    output = check(PROGRAM, tmp_path)
    expected = {
        number: line.partition("  # ")[2]
        for number, line in enumerate(PROGRAM.splitlines(), start=1)
        if "reveal_type" in line
    }
    assert revealed(output) == expected
    assert "error:" not in output, output


def test_mistakes_are_seen_before_the_program_runs(tmp_path: Path):
    output = check(MISTAKES, tmp_path)
    wrong = {int(line) for line in re.findall(r"sample\.py:(\d+): error:", output)}
    assert wrong == set(range(5, 12)), output
