import asyncio
import base64
import json
import logging
import os
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import trustme

from listwatch.client.auth.credentials import Credential, IssuedCredentials, credentials_for
from listwatch.client.auth.exec_plugin import ExecPlugin
from listwatch.client.config.client_config import ClientConfig, ExecConfig, KubeconfigUser
from listwatch.client.config.tls import ClientCertificate
from listwatch.errors import ConfigError, CredentialError
from listwatch.testing.clocks import START, VirtualClock

CANARY = "c4n4ry-in-the-mine"
HOST = "https://10.0.0.1:6443"
V1, V1BETA1 = "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"
AUTHORITY = trustme.CA()
ISSUED = AUTHORITY.issue_cert("jane@example.com")
CERT, KEY = ISSUED.cert_chain_pems[0].bytes(), ISSUED.private_key_pem.bytes()

Script = Callable[..., str]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Makes an executable of some Python code, in which `print_credential(status)` prints an ExecCredential."""

    def write(code: str, name: str = "plugin") -> str:
        path = tmp_path / name
        path.write_text(f"#!{sys.executable} -IS\n{PREAMBLE}\n{dedent(code)}")
        path.chmod(0o755)
        return str(path)

    return write


PREAMBLE = """
import json, os, pathlib, sys, time
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
folder = pathlib.Path(sys.argv[0]).parent

def print_credential(**status):
    print(json.dumps({"kind": "ExecCredential", "apiVersion": info["apiVersion"], "status": status}))
"""


def plugin(
    command: str, *, clock: VirtualClock | None = None, config: dict[str, Any] | None = None, **fields: Any
) -> ExecPlugin:
    described = ExecConfig(**{"command": command, "interactive_mode": "Never", **fields})
    whole = ClientConfig(**{"host": HOST, "exec": described, **(config or {})})
    return ExecPlugin(whole, described, clock=clock or VirtualClock())


async def seen(script: Script, **options: Any) -> dict[str, Any]:
    """The environment that a plugin sees."""
    command = script(
        'print_credential(token=json.dumps({"info": info, "args": sys.argv[1:], "env": dict(os.environ)}))'
    )
    issued = await plugin(command, **options).issue(renew=False)
    found: dict[str, Any] = json.loads(issued.credential.authorization.removeprefix("Bearer "))
    return found


# Output


@pytest.mark.parametrize("version", [V1, V1BETA1])
async def test_a_plugin_prints_a_token(script: Script, version: str):
    issued = await plugin(script('print_credential(token="t")'), api_version=version).issue(renew=False)
    assert issued.credential == Credential("Bearer t")
    assert issued.expires is None


async def test_a_plugin_prints_a_certificate(script: Script):
    command = script(
        f"print_credential(clientCertificateData={CERT.decode()!r}, clientKeyData={KEY.decode()!r}, token=None)"
    )
    issued = await plugin(command).issue(renew=False)
    assert issued.credential == Credential("", ClientCertificate(CERT, KEY))


async def test_a_plugin_prints_both(script: Script):
    command = script(
        f'print_credential(clientCertificateData={CERT.decode()!r}, clientKeyData={KEY.decode()!r}, token="t")'
    )
    issued = await plugin(command).issue(renew=False)
    assert issued.credential == Credential("Bearer t", ClientCertificate(CERT, KEY))


@pytest.mark.parametrize("text", ["2020-01-01T01:00:00Z", "2020-01-01T02:00:00+01:00", "2020-01-01T01:00:00.000000Z"])
async def test_a_plugin_may_report_when_its_credentials_expire(script: Script, text: str):
    issued = await plugin(script(f'print_credential(token="t", expirationTimestamp="{text}")')).issue(renew=False)
    assert issued.expires == datetime.fromisoformat("2020-01-01T01:00:00+00:00")


async def test_a_plugin_may_print_yaml_and_unknown_fields(script: Script):
    command = script(
        f'print("kind: ExecCredential\\napiVersion: {V1}\\nspec: {{}}\\nstatus: {{token: t, colour: blue}}")'
    )
    assert (await plugin(command).issue(renew=False)).credential == Credential("Bearer t")


async def test_a_config_with_a_plugin_runs_it(script: Script):
    async def unused(*_: Any, **__: Any) -> tuple[int, bytes]:
        raise AssertionError("must not be called")

    described = ExecConfig(command=script('print_credential(token="t")'), interactive_mode="Never")
    found = credentials_for(ClientConfig(host=HOST, exec=described), fetch=unused)
    assert await found.current() == Credential("Bearer t")
    await found.aclose()


# Environment


async def test_a_plugin_gets_the_api_version_and_no_cluster_by_default(script: Script):
    found = await seen(script, api_version=V1BETA1, config={"ca_data": AUTHORITY.cert_pem.bytes()})
    assert found["info"] == {"kind": "ExecCredential", "apiVersion": V1BETA1, "spec": {"interactive": False}}


async def test_a_plugin_gets_the_cluster_with_provide_cluster_info(script: Script, tmp_path: Path):
    (tmp_path / "ca.crt").write_bytes(AUTHORITY.cert_pem.bytes())
    config = {"tls_server_name": "inside", "proxy_url": "http://proxy:3128", "disable_compression": True}
    options: dict[str, Any] = {"provide_cluster_info": True, "cluster_config": {"audience": "a", "deep": [{"b": None}]}}
    data = await seen(script, config=config | {"ca_data": AUTHORITY.cert_pem.bytes()}, **options)
    file = await seen(script, config=config | {"ca_file": str(tmp_path / "ca.crt")}, **options)
    assert data["info"] == file["info"]
    assert data["info"]["spec"] == {
        "interactive": False,
        "cluster": {
            "server": HOST,
            "tls-server-name": "inside",
            "certificate-authority-data": base64.b64encode(AUTHORITY.cert_pem.bytes()).decode(),
            "proxy-url": "http://proxy:3128",
            "disable-compression": True,
            "config": {"audience": "a", "deep": [{"b": None}]},
        },
    }


async def test_empty_fields_of_the_cluster_are_left_out(script: Script):
    found = await seen(script, provide_cluster_info=True, config={"insecure_skip_tls_verify": True})
    assert found["info"]["spec"]["cluster"] == {"server": HOST, "insecure-skip-tls-verify": True, "config": None}


async def test_a_plugin_gets_its_arguments_and_our_environment_with_its_own(
    script: Script, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("FROM_US", "1")
    monkeypatch.setenv("FROM_BOTH", "ours")
    monkeypatch.setenv("KUBERNETES_EXEC_INFO", "of the parent process")
    found = await seen(script, args=["get-token", "--cluster", "a b"], env={"FROM_BOTH": "its own", "MORE": "2"})
    assert found["args"] == ["get-token", "--cluster", "a b"]
    environment = {name: found["env"].get(name) for name in ("FROM_US", "FROM_BOTH", "MORE")}
    assert environment == {"FROM_US": "1", "FROM_BOTH": "its own", "MORE": "2"}


async def test_a_command_is_looked_up_in_path(script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    script('print_credential(token="t")', "login")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = plugin("login", env={"PATH": "/nowhere"})
    assert (await found.issue(renew=False)).credential == Credential("Bearer t")


# Interaction


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Makes standard input a terminal."""
    ours, theirs = os.openpty()
    with open(theirs) as standard_input, open(ours):
        monkeypatch.setattr(sys, "stdin", standard_input)
        yield


@pytest.fixture(params=["none", "closed", "no terminal"])
def no_terminal(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Makes standard input something else."""
    with open(os.devnull) as standard_input:
        monkeypatch.setattr(sys, "stdin", None if request.param == "none" else standard_input)
        if request.param == "closed":
            standard_input.close()
        yield


REPORT = "print_credential(token=f\"{info['spec']['interactive']} {os.isatty(0)} {os.getpgrp()}\")"


@pytest.mark.parametrize(("mode", "interactive"), [("Never", False), ("IfAvailable", True), ("Always", True)])
async def test_a_plugin_may_interact_with_a_terminal(script: Script, terminal: None, mode: str, interactive: bool):
    issued = await plugin(script(REPORT), interactive_mode=mode).issue(renew=False)
    _, is_interactive, has_terminal, group = issued.credential.authorization.split()
    assert (is_interactive, has_terminal) == (str(interactive), str(interactive))
    # Only processes in the foreground group of the terminal may read from it.
    assert (int(group) == os.getpgrp()) == interactive


@pytest.mark.parametrize("mode", ["Never", "IfAvailable"])
async def test_without_a_terminal_a_plugin_is_not_interactive(script: Script, no_terminal: None, mode: str):
    command = script('print_credential(token=str(info["spec"]["interactive"]) + repr(sys.stdin.read()))')
    assert (await plugin(command, interactive_mode=mode).issue(renew=False)).credential == Credential("Bearer False''")


async def test_a_plugin_that_needs_a_terminal_is_not_run_without_one(script: Script, tmp_path: Path, no_terminal: None):
    with pytest.raises(CredentialError, match=r"requires a terminal .* standard input is not a terminal"):
        await plugin(script('(folder / "ran").touch()'), interactive_mode="Always").issue(renew=False)
    assert not (tmp_path / "ran").exists()


# Failures


PRINTED = f'{{"kind": "ExecCredential", "apiVersion": "{V1}", "status": %s}}'


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("sys.exit(3)", "failed with exit code 3; its messages are on standard error"),
        ("os.kill(os.getpid(), 9)", "failed with exit code -9"),
        ("", "printed an invalid ExecCredential"),
        (f"print('{CANARY}')", "printed an invalid ExecCredential: Expected `object`, got `str`"),
        (f"print('{{{CANARY}')", "did not print JSON"),
        (f"print('a: *{CANARY}')", "did not print JSON"),
        (f"sys.stdout.buffer.write(b'\\xff{CANARY}')", "did not print JSON"),
        (
            "print(json.dumps({'kind': 'ExecCredential', 'apiVersion': 'v2'}))",
            f"did not print an ExecCredential of {V1}",
        ),
        ("print(json.dumps({'kind': 'Pod', 'apiVersion': info['apiVersion']}))", "did not print an ExecCredential of"),
        (f"print('{PRINTED % 'null'}')", "printed an ExecCredential without a status"),
        ("print_credential()", "printed neither a token nor a certificate with its key"),
        ("print_credential(token='')", "printed neither a token nor a certificate with its key"),
        (
            f"print_credential(clientCertificateData='{CANARY}')",
            "printed a certificate without its key, or a key without",
        ),
        (
            f"print_credential(token='t', clientKeyData='{CANARY}')",
            "printed a certificate without its key, or a key without",
        ),
        (
            f"print_credential(clientCertificateData='{CANARY}', clientKeyData='{CANARY}')",
            "printed a certificate that cannot be used: the client certificate or its key is not in PEM form",
        ),
        (f"print_credential(token='{CANARY}\\nx')", "printed a token with line breaks"),
        (f"print_credential(token=['{CANARY}'])", "Expected `str | null`, got `array` - at `$.status.token`"),
        (
            f"print_credential(token='t', expirationTimestamp='{CANARY}')",
            "Invalid RFC3339 encoded datetime - at `$.status.exp",
        ),
        ("print_credential(token='t', expirationTimestamp='2020-01-01T01:00:00')", "at `$.status.expirationTimestamp`"),
    ],
)
async def test_errors_about_a_plugin_do_not_quote_its_output(
    script: Script, code: str, complaint: str, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    command = script(f"print('{CANARY}', file=sys.stderr)\n{code}")
    described: dict[str, Any] = {
        "args": [CANARY],
        "env": {"SECRET": CANARY},
        "kubeconfig_user": KubeconfigUser("/home/config", "jane"),
    }
    with pytest.raises(CredentialError) as caught:
        await plugin(command, **described).issue(renew=False)
    said = str(caught.value)
    assert said.startswith(f"/home/config: user \"jane\": the exec plugin '{command}' ")
    assert complaint in said
    assert (
        CANARY not in f"{said} {caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r} {caplog.text}"
    )


async def test_a_plugin_inherits_standard_error(script: Script, capfd: pytest.CaptureFixture[str]):
    await plugin(script('print("please log in", file=sys.stderr)\nprint_credential(token="t")')).issue(renew=False)
    assert "please log in" in capfd.readouterr().err


async def test_a_file_that_cannot_be_run_is_named(tmp_path: Path):
    (tmp_path / "text").write_text("hello")
    with pytest.raises(CredentialError, match=f"the exec plugin '{tmp_path}/text' is not executable"):
        await plugin(str(tmp_path / "text")).issue(renew=False)
    (tmp_path / "text").chmod(0o755)
    with pytest.raises(CredentialError, match=f"the exec plugin '{tmp_path}/text' cannot be run: Exec format error"):
        await plugin(str(tmp_path / "text")).issue(renew=False)


async def test_the_install_hint_is_shown_ten_times_an_hour():
    clock = VirtualClock()
    found = plugin("no-such-plugin", install_hint="see https://example.com", clock=clock)

    async def complaint() -> str:
        with pytest.raises(CredentialError) as caught:
            await found.issue(renew=False)
        return str(caught.value)

    first = await complaint()
    assert "the exec plugin 'no-such-plugin' was not found; install it" in first
    assert "see https://example.com" in first
    for _ in range(9):
        clock.jump(60)
        assert await complaint() == first
    without = await complaint()
    assert without == first.removesuffix(" see https://example.com")
    clock.jump(3599 - 9 * 60)
    assert await complaint() == without
    clock.jump(1)
    assert await complaint() == first
    assert await complaint() == without


async def test_an_extension_that_json_cannot_represent_is_an_error(script: Script):
    circular: list[Any] = []
    circular.append(circular)
    for wrong in (circular, {1.5j}, {"a": object()}):
        with pytest.raises(CredentialError, match="the exec extension of the cluster cannot be encoded as JSON"):
            await plugin(script(REPORT), provide_cluster_info=True, cluster_config=wrong).issue(renew=False)


# Time


COUNTING = """
count = folder / "count"
number = int(count.read_text()) + 1 if count.exists() else 1
count.write_text(str(number))
"""


def credentials(command: str, clock: VirtualClock, **fields: Any) -> IssuedCredentials:
    return IssuedCredentials(plugin(command, clock=clock, **fields), clock=clock)


async def test_a_plugin_is_run_again_when_its_credentials_have_expired_or_are_rejected(script: Script):
    clock = VirtualClock()
    expires = START.replace(hour=1).isoformat()
    found = credentials(
        script(f'{COUNTING}\nprint_credential(token=str(number), expirationTimestamp="{expires}")'), clock
    )
    first = await found.current()
    assert first == Credential("Bearer 1")
    assert await found.current() is first
    assert await found.renew(first) is True
    assert await found.current() == Credential("Bearer 2")
    clock.jump(3600)
    assert await found.current() == Credential("Bearer 2")
    clock.jump(1)
    assert await found.current() == Credential("Bearer 3")
    await found.aclose()


async def test_concurrent_requests_share_one_run_that_does_not_block_the_loop(script: Script, tmp_path: Path):
    os.mkfifo(tmp_path / "fifo")
    found = credentials(
        script(f'{COUNTING}\nprint_credential(token=str(number) + open(folder / "fifo").read())'), VirtualClock()
    )
    waiting = [asyncio.create_task(found.current()) for _ in range(5)]
    # The plugin waits for this file, which is written only if the plugin does not block the loop.
    await asyncio.to_thread((tmp_path / "fifo").write_text, "!")
    assert set(await asyncio.gather(*waiting)) == {Credential("Bearer 1!")}


LINGERING = """
line = open(folder / "fifo", "w")
child = os.fork() if "child" in sys.argv[1] else 0
if "only" in sys.argv[1] and child:
    sys.exit()
line.write("started\\n")
line.flush()
time.sleep(20)
line.write("survived\\n")
"""


@pytest.mark.parametrize("form", ["alone", "with a child", "only its child"])
async def test_closing_kills_a_running_plugin_and_its_children(script: Script, tmp_path: Path, form: str):
    os.mkfifo(tmp_path / "fifo")
    found = credentials(script(LINGERING), VirtualClock(), args=[form])
    waiting = asyncio.create_task(found.current())
    with await asyncio.to_thread(open, tmp_path / "fifo") as line:
        assert await asyncio.to_thread(line.readline) == "started\n"
        await found.aclose()
        with pytest.raises(CredentialError, match="the client was closed"):
            await waiting
        # The pipe is closed when no process has it open.
        assert "survived" not in await asyncio.to_thread(line.read)


# Limits


async def test_a_plugin_with_endless_output_is_killed(script: Script, tmp_path: Path):
    os.mkfifo(tmp_path / "fifo")
    endless = """
        line = open(folder / "fifo", "w")
        child = os.fork()
        while True:
            print("c4n4ry-in-the-mine" * 1000)
    """
    issuing = asyncio.create_task(plugin(script(endless)).issue(renew=False))
    with await asyncio.to_thread(open, tmp_path / "fifo") as line:
        with pytest.raises(CredentialError, match="was killed because it printed more than 1,048,576 bytes") as caught:
            await issuing
        await asyncio.to_thread(line.read)  # ends when the plugin and its child are gone
    assert CANARY not in str(caught.value)


async def test_a_plugin_with_endless_output_is_killed_even_if_a_child_that_cannot_be_killed_keeps_its_output_open(
    script: Script, tmp_path: Path
):
    os.mkfifo(tmp_path / "fifo")
    endless = """
        is_detached, detached = os.pipe()
        if not os.fork():
            os.setsid()
            os.write(detached, b".")
            open(folder / "fifo").read()  # until the test ends
            sys.exit()
        os.read(is_detached, 1)  # otherwise, the child may be killed with its parent
        while True:
            print("x" * 1000)
    """
    issuing = asyncio.create_task(plugin(script(endless)).issue(renew=False))
    with (
        await asyncio.to_thread(open, tmp_path / "fifo", "w"),
        pytest.raises(CredentialError, match="was killed because it printed more than 1,048,576 bytes"),
    ):
        await issuing


async def test_a_plugin_that_hangs_is_killed_with_its_children(script: Script, tmp_path: Path):
    os.mkfifo(tmp_path / "fifo")
    clock = VirtualClock()
    issuing = asyncio.create_task(plugin(script(LINGERING), clock=clock, args=["with a child"]).issue(renew=False))
    with await asyncio.to_thread(open, tmp_path / "fifo") as line:
        assert await asyncio.to_thread(line.readline) == "started\n"
        await clock.advance(60)
        with pytest.raises(CredentialError, match="was killed because it ran for more than 60 s"):
            await issuing
        assert "survived" not in await asyncio.to_thread(line.read)


async def test_the_timeout_of_a_plugin_can_be_set(script: Script, tmp_path: Path):
    os.mkfifo(tmp_path / "fifo")
    clock = VirtualClock()
    issuing = asyncio.create_task(plugin(script(LINGERING), clock=clock, args=["alone"], timeout=5).issue(renew=False))
    with await asyncio.to_thread(open, tmp_path / "fifo") as line:
        assert await asyncio.to_thread(line.readline) == "started\n"
        await clock.advance(5)
        with pytest.raises(CredentialError, match="for more than 5 s"):
            await issuing


@pytest.mark.parametrize("wrong", [0, -1, "5"])
def test_an_invalid_timeout_is_an_error(wrong: Any):
    with pytest.raises(ConfigError, match="timeout: must be a number above zero, or None for no limit"):
        ExecConfig(command="c", timeout=wrong)


@pytest.mark.parametrize("level", ["[", "{a: ", "- "])
async def test_deeply_nested_output_is_an_error(script: Script, level: str):
    with pytest.raises(CredentialError, match="did not print JSON"):
        await plugin(script(f"print({level!r} * 100_000)")).issue(renew=False)
