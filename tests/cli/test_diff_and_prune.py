"""`diff`, and `apply --prune`: what an apply changes, and what an earlier one created."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from listwatch.cli.commands.resources import diff as diff_command
from listwatch.client import ClientSet
from listwatch.errors import InternalServerError, NotFoundError
from listwatch.server import APIServer, Fail, Fault

from .conftest import Process, Run

MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {x: '1'}\n"
INVALID = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {}\n"
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: key, labels: {a: b}}\nstringData: {password: hunter2}\n"
CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: toys.example.com}
spec:
  group: example.com
  names: {kind: Toy, plural: toys}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
---
apiVersion: example.com/v1
kind: Toy
metadata: {name: bear}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: shop}
"""


def write_map(folder: Path, name: str, value: str = "1") -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.yaml").write_text(MAP.replace("web", name).replace("'1'", f"'{value}'"))


# --- diff -------------------------------------------------------------------------------------------------------------


async def test_diff_shows_fields_and_exits_with_1_until_they_are_applied(tmp_path: Path, client: ClientSet, run: Run):
    file = tmp_path / "web.yaml"
    file.write_text(MAP)
    done = await run("diff", "-f", str(file))
    assert (done.code, done.errors) == (1, "")
    assert done.out.splitlines()[:2] == ["ConfigMap web (new)", '+ .data: {"x":"1"}']
    await run("apply", "-f", str(file))
    assert await run("diff", "-f", str(file)) == (0, "", "")
    file.write_text(MAP.replace("'1'", "'2'"))
    done = await run("diff", "-f", str(file))
    assert (done.code, done.out) == (1, 'ConfigMap web\n~ .data.x: "1" -> "2"\n')


async def test_diff_names_the_manager_that_owns_a_field(tmp_path: Path, client: ClientSet, run: Run):
    (tmp_path / "web.yaml").write_text(MAP)
    await client.core_v1.configmaps("default").apply(
        {"metadata": {"name": "web"}, "data": {"x": "0"}}, field_manager="me"
    )
    done = await run("diff", "-f", str(tmp_path / "web.yaml"))
    assert (done.code, done.out) == (1, 'ConfigMap web\n~ .data.x: "0" -> "1"\n! .data.x: owned by me\n')


async def test_diff_shows_the_changed_lines_of_a_text(tmp_path: Path, client: ClientSet, run: Run):
    (tmp_path / "web.yaml").write_text(MAP.replace("{x: '1'}", '{x: "a\\nb\\nc\\n"}'))
    await run("apply", "-f", str(tmp_path / "web.yaml"))
    (tmp_path / "web.yaml").write_text(MAP.replace("{x: '1'}", '{x: "a\\nB\\nc\\n"}'))
    done = await run("diff", "-f", str(tmp_path / "web.yaml"))
    assert done.out.splitlines()[1:] == [
        "~ .data.x:",
        *(f"    {line}" for line in ("@@ -1,4 +1,4 @@", " a", "-b", "+B", " c", " ")),
    ]
    (tmp_path / "web.yaml").write_text(MAP.replace("{x: '1'}", '{x: "a\\n\\e[31mB\\nc\\n"}'))
    assert "\x1b" not in (await run("diff", "-f", str(tmp_path / "web.yaml"))).out


async def test_diff_does_not_show_values_of_secrets(tmp_path: Path, client: ClientSet, run: Run):
    (tmp_path / "key.yaml").write_text(SECRET)
    await run("apply", "-f", str(tmp_path / "key.yaml"))
    (tmp_path / "key.yaml").write_text(SECRET.replace("hunter2", "hunter3\\nx").replace("a: b", "a: c"))
    done = await run("diff", "-f", str(tmp_path / "key.yaml"))
    assert done.out == 'Secret key\n~ .data.password: (not shown)\n~ .metadata.labels.a: "b" -> "c"\n'


@pytest.mark.parametrize("command", ["diff", "apply"])
async def test_errors_of_the_server_are_printed_without_values_of_secrets(
    command: str, tmp_path: Path, server: APIServer, run: Run
):
    """kube-apiserver prints a value that has the wrong type."""
    text = SECRET.replace("{password: hunter2}", "{pin: 123456, list: [hunter2], float: 12345678.0}")
    (tmp_path / "key.yaml").write_text(text)
    wrong = "expected string, got &value.valueUnstructured{Value:%s}"
    values = ("123456", '[]interface {}{"hunter2"}', "1.2345678e+07")
    error = InternalServerError("errors:\n" + "\n".join(f"  .stringData.x: {wrong % value}" for value in values))
    server.faults.add(Fault(Fail(error), verb="patch", resource="secrets"))
    done = await run(command, "-f", str(tmp_path / "key.yaml"))
    assert done.errors.count("expected string, got (not shown)") == 3
    assert not any(value in done.errors for value in ("123456", "hunter2", "1.23"))


async def test_diff_accepts_objects_whose_kind_or_namespace_the_manifests_create(
    tmp_path: Path, server: APIServer, run: Run
):
    (tmp_path / "toys.yaml").write_text(CRD)
    done = await run("diff", "-f", str(tmp_path / "toys.yaml"))
    assert (done.code, done.errors) == (1, "")
    assert {"Toy bear (new)", "ConfigMap shop/web (new)", "Namespace shop (new)"} <= {*done.out.splitlines()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{INVALID}---\n{MAP}", "document 1: Pod web: "),
        (MAP.replace("{name: web}", "{name: web, namespace: missing}"), 'namespaces "missing" not found'),
        ("a: [", "bad.yaml"),
    ],
)
async def test_an_error_of_diff_is_greater_than_1(text: str, message: str, tmp_path: Path, server: APIServer, run: Run):
    (tmp_path / "bad.yaml").write_text(text)
    done = await run("diff", "-f", str(tmp_path / "bad.yaml"))
    assert done.code == 2
    assert message in done.errors


async def test_diff_reads_stdin_and_writes_no_colours_into_a_pipe(
    client: ClientSet, start: Callable[..., Awaitable[Process]]
):
    done = await (await start("diff", "-f", "-")).end(MAP)
    assert (done.code, "\x1b" in done.out) == (1, False)


def test_lines_have_colours_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    diff_command._show("ConfigMap web\n+ .data.x: 1\n    -b")
    assert capsys.readouterr().out.splitlines() == [
        "\x1b[1mConfigMap web\x1b[0m",
        "\x1b[32m+ .data.x: 1\x1b[0m",
        "\x1b[31m    -b\x1b[0m",
    ]
    monkeypatch.setenv("NO_COLOR", "1")
    diff_command._show("+ x")
    assert capsys.readouterr().out == "+ x\n"


# --- prune ------------------------------------------------------------------------------------------------------------


async def test_apply_prunes_what_an_earlier_apply_of_the_set_created(tmp_path: Path, client: ClientSet, run: Run):
    maps = client.core_v1.configmaps("default")
    await maps.create({"metadata": {"name": "foreign"}})
    folder = tmp_path / "m"
    write_map(folder, "a")
    write_map(folder, "b")
    options = ("-f", str(folder), "--prune", "--applyset", "shop")
    assert (await run("apply", *options)).out == "configmap/a created\nconfigmap/b created\n"
    (folder / "a.yaml").unlink()
    assert await run("diff", *options) == (1, "- ConfigMap default/a (pruned)\n", "")
    dry = await run("apply", *options, "--dry-run")
    assert dry.out == "configmap/b unchanged (dry run)\nconfigmap/a pruned (dry run)\n"
    assert await run("apply", *options) == (0, "configmap/b unchanged\nconfigmap/a pruned\n", "")
    assert {each.name for each in await maps.list()} >= {"b", "foreign", "shop"}
    with pytest.raises(NotFoundError):
        await maps.get("a")
    assert await run("diff", *options) == (0, "", "")


async def test_nothing_is_pruned_after_a_failure(tmp_path: Path, client: ClientSet, run: Run):
    folder = tmp_path / "m"
    write_map(folder, "a")
    options = ("apply", "-f", str(folder), "--prune", "--applyset", "shop")
    await run(*options)
    (folder / "a.yaml").write_text(INVALID)
    done = await run(*options)
    assert done.code == 1
    assert done.errors.endswith("nothing was pruned, because an object could not be applied\n")
    write_map(folder, "b")
    (folder / "a.yaml").unlink()
    assert (await run(*options)).out == "configmap/b created\nconfigmap/a pruned\n"


@pytest.mark.parametrize(
    "head", [f"Content-Length: {2 * len(MAP)}\r\n\r\n", f"Transfer-Encoding: chunked\r\n\r\n{9999:x}\r\n"]
)
async def test_nothing_is_pruned_if_a_download_ends_early(head: str, tmp_path: Path, client: ClientSet, run: Run):
    for name in ("web", "old"):
        write_map(tmp_path / "maps", name)
    await run("apply", "-f", str(tmp_path / "maps"), "--prune", "--applyset", "shop")

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 200 OK\r\n{head}{MAP}".encode())
        writer.close()

    async with await asyncio.start_server(respond, "127.0.0.1", 0) as listener:
        url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/web.yaml"
        done = await run("apply", "-f", url, "--prune", "--applyset", "shop")
    assert (done.code, done.out) == (2, "")
    assert f"error: cannot read {url}: " in done.errors
    assert await client.core_v1.configmaps("default").get("old")


async def test_the_password_of_a_url_is_not_printed(client: ClientSet, run: Run):
    done = await run("apply", "-f", "https://me:hunter2@127.0.0.1:1/web.yaml")
    assert (done.code, "hunter2" in done.errors + done.out) == (2, False)


async def test_pruning_needs_the_name_of_a_set(tmp_path: Path, client: ClientSet, run: Run):
    write_map(tmp_path, "a")
    done = await run("apply", "-f", str(tmp_path / "a.yaml"), "--prune")
    assert (done.code, "--prune needs --applyset NAME" in done.errors) == (2, True)
    done = await run("diff", "-f", str(tmp_path / "a.yaml"), "--applyset", "shop")
    assert (done.code, "--applyset needs --prune" in done.errors) == (2, True)
    await client.core_v1.configmaps("default").create({"metadata": {"name": "shop"}})
    done = await run("apply", "-f", str(tmp_path / "a.yaml"), "--prune", "--applyset", "shop")
    assert (done.code, "ConfigMap default/shop is no set of applied objects" in done.errors) == (2, True)
