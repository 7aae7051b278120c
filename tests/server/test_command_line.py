"""`python -m listwatch.server`: where its token comes from, when it serves HTTPS, and what it prints."""

import asyncio
import os
import ssl
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
import yaml

from listwatch.client.config.kubeconfig import load_config

WITHOUT_CRYPTOGRAPHY = "import sys; sys.modules['cryptography'] = None; "
PROGRAM = "from listwatch.server.__main__ import main; sys.exit(main(sys.argv[1:]))"


def command(*arguments: str, has_cryptography: bool = True) -> list[str]:
    return [sys.executable, "-c", ("import sys; " if has_cryptography else WITHOUT_CRYPTOGRAPHY) + PROGRAM, *arguments]


def environment(token: str | None = None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "LISTWATCH_TOKEN"}
    return kept if token is None else {**kept, "LISTWATCH_TOKEN": token}


def ended(*arguments: str, token: str | None = None, has_cryptography: bool = True) -> subprocess.CompletedProcess[str]:
    """The result of the program, which is expected to end by itself."""
    return subprocess.run(
        command(*arguments, has_cryptography=has_cryptography),
        env=environment(token),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


class Program:
    """The server as a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process, url: str) -> None:
        self._process = process
        self.url = url

    async def next_line(self) -> str:
        assert self._process.stdout is not None
        return (await self._process.stdout.readline()).decode().rstrip("\n")

    async def end(self) -> tuple[int, str]:
        """Stop it; returns the exit code, and all that it printed after its URL."""
        self._process.terminate()
        out, errors = await self._process.communicate()
        return self._process.returncode or 0, out.decode() + errors.decode()


@asynccontextmanager
async def program(*arguments: str, token: str | None = None, has_cryptography: bool = True) -> AsyncIterator[Program]:
    process = await asyncio.create_subprocess_exec(
        *command(*arguments, has_cryptography=has_cryptography),
        env=environment(token),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        first = (await process.stdout.readline()).decode()
        assert first.startswith("listening on "), (first, await process.communicate())
        yield Program(process, first.split()[-1])
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def status(url: str, token: str = "", ca: bytes = b"") -> int:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    trust = ssl.create_default_context(cadata=ca.decode()) if ca else True
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trust)) as session,
        session.get(f"{url}/api/v1/namespaces", headers=headers) as response,
    ):
        return response.status


async def test_without_options_it_prints_the_kubeconfig_to_use():
    async with program() as running:
        line = await running.next_line()
        assert line.startswith("export KUBECONFIG=")
        file = Path(line.removeprefix("export KUBECONFIG="))
        config = load_config(file)
        assert await status(running.url, config.token, config.ca_data) == 200
        await running.end()
    assert not await asyncio.to_thread(file.exists)


@pytest.mark.parametrize("options", [(["--no-tls"], True), ([], False)])
async def test_without_tls_it_prints_the_token_to_use(options: tuple[list[str], bool]):
    arguments, has_cryptography = options
    async with program(*arguments, has_cryptography=has_cryptography) as running:
        label, token = (await running.next_line()).split()
        assert (label, running.url.partition(":")[0]) == ("token:", "http")
        assert await status(running.url, token) == 200


async def test_with_a_data_directory_it_prints_where_the_token_is(tmp_path: Path):
    async with program("--data-dir", str(tmp_path)) as running:
        assert await running.next_line() == f"the token is in {tmp_path / 'token'}"


async def test_it_prints_the_line_that_selects_the_kubeconfig(tmp_path: Path):
    file = tmp_path / "a folder" / "kubeconfig"
    file.parent.mkdir()
    async with program("--write-kubeconfig", str(file)) as running:
        assert await running.next_line() == f"export KUBECONFIG='{file}'"


def test_a_kubeconfig_in_a_directory_that_does_not_exist_is_an_error(tmp_path: Path):
    done = ended("--write-kubeconfig", str(tmp_path / "missing" / "kubeconfig"))
    assert done.returncode == 1
    assert f"the directory '{tmp_path / 'missing'}' does not exist" in done.stderr


def test_help_warns_of_a_token_on_the_command_line():
    help_text = " ".join(ended("--help").stdout.split())
    assert "other users of this machine can see it in the list of processes" in help_text
    assert "$LISTWATCH_TOKEN" in help_text


async def test_with_a_kubeconfig_it_serves_https(tmp_path: Path):
    file = tmp_path / "kubeconfig"
    async with program("--write-kubeconfig", str(file)) as running:
        config = load_config(file)
        assert config.base_url == running.url
        assert running.url.startswith("https://127.0.0.1:")
        assert await status(running.url, config.token, config.ca_data) == 200
        assert await status(running.url, "", config.ca_data) == 401
        user = yaml.safe_load(file.read_text())["users"][0]["user"]
        assert user == {"token": config.token}
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        code, printed = await running.end()
    assert (code, config.token in printed + running.url) == (0, False)


async def test_without_a_kubeconfig_it_serves_plain_http_unless_tls_is_requested(tmp_path: Path):
    async with program(token="from-environment") as running:
        assert running.url.startswith("http://")
        assert await status(running.url, "from-environment") == 200
    async with program("--tls", "--data-dir", str(tmp_path)) as running:
        assert running.url.startswith("https://")


async def test_the_token_can_come_from_a_file(tmp_path: Path):
    (tmp_path / "token").write_text("from-file\n")
    async with program("--token-file", str(tmp_path / "token"), token="from-environment") as running:
        assert await status(running.url, "from-file") == 200
        assert await status(running.url, "from-environment") == 401


async def test_the_token_of_the_command_line_has_precedence_over_the_environment():
    async with program("--token", "from-option", token="from-environment") as running:
        assert await status(running.url, "from-option") == 200
        assert await status(running.url, "from-environment") == 401


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "the token cannot be read: No such file or directory"),
        (b" \n", "is empty"),
        (b"secret-one\nsecret-two\n", "does not contain a single token"),
        ("secret-é".encode(), "does not contain a single token"),
        (b"\xff\xfe", "the token cannot be read: it is not text"),
    ],
)
def test_a_file_without_a_token_is_an_error_without_its_content(tmp_path: Path, content: bytes | None, reason: str):
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    done = ended("--token-file", str(file))
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {file}")
    assert reason in done.stderr
    assert "secret" not in done.stderr


def test_an_empty_token_of_the_environment_is_an_error():
    done = ended(token="")
    assert (done.returncode, done.stderr) == (1, "error: $LISTWATCH_TOKEN is empty; it has to contain a token\n")


def test_a_token_and_a_token_file_exclude_each_other(tmp_path: Path):
    done = ended("--token", "a", "--token-file", str(tmp_path / "token"))
    assert done.returncode == 2
    assert "not allowed with argument" in done.stderr


def test_without_cryptography_it_offers_plain_http(tmp_path: Path):
    done = ended("--write-kubeconfig", str(tmp_path / "kubeconfig"), has_cryptography=False)
    assert done.returncode == 1
    assert "pip install 'listwatch[server]'" in done.stderr
    assert "--no-tls" in done.stderr
    assert "send the token themselves" in done.stderr
    assert not (tmp_path / "kubeconfig").exists()


async def test_over_plain_http_clients_have_to_send_the_token_themselves(tmp_path: Path):
    file = tmp_path / "kubeconfig"
    async with program("--write-kubeconfig", str(file), "--no-tls", has_cryptography=False) as running:
        written = yaml.safe_load(file.read_text())
        token = written["users"][0]["user"]["token"]
        assert written["clusters"][0]["cluster"] == {"server": running.url}
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert (await status(running.url), await status(running.url, token)) == (401, 200)
        _code, printed = await running.end()
    assert "Authorization: Bearer TOKEN" in printed
    assert token not in printed
