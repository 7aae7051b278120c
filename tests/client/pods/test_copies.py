"""Copies of files to and from containers, through the tar of this machine and through hostile archives."""

import asyncio
import io
import os
import tarfile
from pathlib import Path

import pytest
from tests.client.pods.local_kubelet import LocalKubelet, served_pods

from listwatch.client import copy_from_pod, copy_to_pod
from listwatch.client.containers.archive_paths import plan_member, split_remote_path
from listwatch.errors import (
    CommandFailedError,
    ExitCodeLostError,
    InternalServerError,
    ResponseTooLargeError,
    UnsafeArchiveError,
)
from listwatch.server import ExecSession, FunctionKubelet


def write_tree(root: Path) -> None:
    (root / "sub" / "empty").mkdir(parents=True)
    (root / "a.txt").write_text("text")
    (root / "sub" / "b.bin").write_bytes(bytes(range(256)) * 1000)
    (root / "sub" / "run.sh").write_text("#!/bin/sh\n")
    (root / "sub" / "run.sh").chmod(0o755)
    (root / "link").symlink_to("sub/b.bin")
    (root / ("long-" + "x" * 150)).write_text("long")


def read_tree(root: Path) -> dict[str, object]:
    return {
        str(path.relative_to(root)): os.readlink(path)
        if path.is_symlink()
        else None
        if path.is_dir()
        else (path.read_bytes(), path.stat().st_mode & 0o100)
        for path in root.rglob("*")
    }


def files_below(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if not path.is_dir() or path.is_symlink()]


def archive(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as made:
        for header, content in members:
            header.size = len(content)
            made.addfile(header, io.BytesIO(content))
    return file.getvalue()


def member(name: str, content: bytes = b"x", *, kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644):
    header = tarfile.TarInfo(name)
    header.type, header.linkname, header.mode = kind, link, mode
    return header, content if kind == tarfile.REGTYPE else b""


def sending(data: bytes, *, code: int = 0) -> FunctionKubelet:
    """A kubelet whose every command writes these bytes."""

    async def run(session: ExecSession) -> int:
        await session.stdout.write(data)
        return code

    return FunctionKubelet(exec=run)


async def test_a_directory_is_copied_to_a_container_and_back(tmp_path: Path):
    local, container, back = tmp_path / "local", tmp_path / "container", tmp_path / "back"
    write_tree(local)
    container.mkdir()
    async with served_pods(LocalKubelet(container)) as pods:
        sent = await copy_to_pod(pods, "web-0", local, "copied")
        received = await copy_from_pod(pods, "web-0", "copied", back)
    assert read_tree(container / "copied") == read_tree(local) == read_tree(back)
    assert (sent.files, sent.skipped) == (received.files, received.skipped) == (4, {})
    assert sent.size == received.size == 256_000 + 4 + 10 + 4


async def test_a_file_is_copied_into_a_directory_or_as_a_name(tmp_path: Path):
    (tmp_path / "file.txt").write_text("text")
    container = tmp_path / "container"
    (container / "folder").mkdir(parents=True)
    async with served_pods(LocalKubelet(container)) as pods:
        await copy_to_pod(pods, "web-0", tmp_path / "file.txt", "folder")
        await copy_to_pod(pods, "web-0", tmp_path / "file.txt", "folder/other.txt")
        (tmp_path / "target").mkdir()
        await copy_from_pod(pods, "web-0", "folder/file.txt", tmp_path / "target")
        await copy_from_pod(pods, "web-0", "folder/other.txt", tmp_path / "renamed.txt")
    assert {each.name for each in (container / "folder").iterdir()} == {"file.txt", "other.txt"}
    assert (tmp_path / "target" / "file.txt").read_text() == (tmp_path / "renamed.txt").read_text() == "text"


async def test_a_name_that_looks_like_an_option_is_a_name(tmp_path: Path):
    container = tmp_path / "container"
    container.mkdir()
    (container / "--help").write_text("text")
    async with served_pods(LocalKubelet(container)) as pods:
        await copy_from_pod(pods, "web-0", "--help", tmp_path / "copied")
    assert (tmp_path / "copied").read_text() == "text"


async def test_a_missing_path_is_the_error_of_tar(tmp_path: Path):
    async with served_pods(LocalKubelet(tmp_path)) as pods:
        with pytest.raises(CommandFailedError, match=r"tar in the container ended with exit code 2: .*No such file"):
            await copy_from_pod(pods, "web-0", "/no/such/path", tmp_path / "x")
        (tmp_path / "a").write_text("x")
        with pytest.raises(CommandFailedError, match="No such file"):
            await copy_to_pod(pods, "web-0", tmp_path / "a", "/no/such/folder/a")
        with pytest.raises(FileNotFoundError):
            await copy_to_pod(pods, "web-0", tmp_path / "missing", "x")
    assert not (tmp_path / "x").exists()


async def test_a_container_without_tar_is_an_error(tmp_path: Path):
    async def run(session: ExecSession) -> int:
        raise InternalServerError("exec: tar: executable file not found in $PATH")

    async with served_pods(FunctionKubelet(exec=run)) as pods:
        with pytest.raises(InternalServerError, match="executable file not found"):
            await copy_from_pod(pods, "web-0", "/etc", tmp_path / "x")


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "../out", "etc/../../out", "other/file", "./../out", "etc/sub/../../x", "", "x" * 5000],
)
async def test_a_path_outside_of_the_target_is_refused(name: str, tmp_path: Path):
    target = tmp_path / "target"
    async with served_pods(sending(archive(member(name)))) as pods:
        with pytest.raises(UnsafeArchiveError, match=r"the archive has the path|no valid archive"):
            await copy_from_pod(pods, "web-0", "/etc", target)
    assert files_below(tmp_path) == []


@pytest.mark.parametrize("link", ["/etc/passwd", "../..", "sub/../../..", "../../x"])
async def test_a_link_that_leads_out_of_the_target_is_skipped(link: str, tmp_path: Path):
    data = archive(member("etc/link", kind=tarfile.SYMTYPE, link=link), member("etc/file"))
    async with served_pods(sending(data)) as pods:
        result = await copy_from_pod(pods, "web-0", "/etc", tmp_path / "target")
    assert result.skipped == {"link": "the symbolic link leads out of the target"}
    assert [each.name for each in (tmp_path / "target").iterdir()] == ["file"]


async def test_a_link_through_another_link_cannot_lead_out_of_the_target(tmp_path: Path):
    data = archive(
        member("etc/a/b/up", kind=tarfile.SYMTYPE, link="../.."),
        member("etc/a/b/out", kind=tarfile.SYMTYPE, link="up/../secret"),
    )
    async with served_pods(sending(data)) as pods:
        result = await copy_from_pod(pods, "web-0", "/etc", tmp_path / "target")
    assert result.skipped == {"a/b/out": "the symbolic link leads out of the target"}
    assert (tmp_path / "target" / "a" / "b" / "up").is_symlink()


async def test_no_file_is_written_through_a_link_of_the_archive(tmp_path: Path):
    data = archive(
        member("etc/link", kind=tarfile.SYMTYPE, link="inside"), member("etc/link/file"), member("etc/inside/a")
    )
    async with served_pods(sending(data)) as pods:
        with pytest.raises(UnsafeArchiveError, match="is a directory, and the archive has a link"):
            await copy_from_pod(pods, "web-0", "/etc", tmp_path / "target")
    assert not (tmp_path / "target" / "inside" / "file").exists()


async def test_no_file_is_written_through_a_link_that_exists(tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "victim").write_text("untouched")
    target = tmp_path / "target"
    target.mkdir()
    (target / "sub").symlink_to(tmp_path / "elsewhere")
    (target / "file").symlink_to(tmp_path / "victim")
    async with served_pods(sending(archive(member("etc/file")))) as pods:
        await copy_from_pod(pods, "web-0", "/etc", target)
    assert (tmp_path / "victim").read_text() == "untouched"
    assert (target / "file").read_bytes() == b"x"
    async with served_pods(sending(archive(member("etc/sub/file")))) as pods:
        with pytest.raises(UnsafeArchiveError, match="is a symbolic link"):
            await copy_from_pod(pods, "web-0", "/etc", target)
    assert [*(tmp_path / "elsewhere").iterdir()] == []


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
async def test_devices_and_pipes_are_skipped(kind: bytes, tmp_path: Path):
    async with served_pods(sending(archive(member("dev/x", kind=kind), member("dev/file")))) as pods:
        result = await copy_from_pod(pods, "web-0", "/dev", tmp_path / "target")
    assert result.skipped == {"x": "it is no file, directory or link"}
    assert [each.name for each in (tmp_path / "target").iterdir()] == ["file"]


async def test_a_hard_link_becomes_a_copy_of_a_file_of_the_archive(tmp_path: Path):
    data = archive(member("etc/a", b"text"), member("etc/b", kind=tarfile.LNKTYPE, link="etc/a"))
    async with served_pods(sending(data)) as pods:
        await copy_from_pod(pods, "web-0", "/etc", tmp_path / "target")
    assert (tmp_path / "target" / "b").read_bytes() == b"text"
    data = archive(member("etc/b", kind=tarfile.LNKTYPE, link="etc/missing"))
    async with served_pods(sending(data)) as pods:
        with pytest.raises(UnsafeArchiveError, match="which it does not have"):
            await copy_from_pod(pods, "web-0", "/etc", tmp_path / "target")


async def test_permissions_are_kept_without_those_of_root(tmp_path: Path):
    async with served_pods(sending(archive(member("etc/file", mode=0o6755)))) as pods:
        await copy_from_pod(pods, "web-0", "/etc", tmp_path / "target")
    assert (tmp_path / "target" / "file").stat().st_mode & 0o7777 == 0o755 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


async def test_more_than_the_allowed_size_is_refused(tmp_path: Path):
    async with served_pods(sending(archive(member("etc/file", b"x" * 5000)))) as pods:
        with pytest.raises(ResponseTooLargeError, match="more than 1,000 bytes"):
            await copy_from_pod(pods, "web-0", "/etc", tmp_path / "target", max_size=1000)


async def test_a_header_that_would_take_much_memory_is_refused(tmp_path: Path):
    header = tarfile.TarInfo("pax")
    header.type, header.size = tarfile.XHDTYPE, 2**32
    async with served_pods(sending(header.tobuf() + b"\0" * 2048)) as pods:
        with pytest.raises(UnsafeArchiveError, match="a header of"):
            await copy_from_pod(pods, "web-0", "/etc", tmp_path / "target")


@pytest.mark.parametrize("data", [b"no archive", b"x" * 1024, b""])
async def test_output_that_is_no_archive_is_refused(data: bytes, tmp_path: Path):
    async with served_pods(sending(data)) as pods:
        with pytest.raises(UnsafeArchiveError, match="no valid archive"):
            await copy_from_pod(pods, "web-0", "/etc", tmp_path / "target")


async def test_an_archive_that_is_cut_is_no_success(tmp_path: Path):
    from tests.client.pods.scripted_sockets import frame, scripted_socket

    data = archive(member("etc/file", b"x" * 5000))
    async with scripted_socket(frame(b"\x01" + data[:3000])) as (_, pods):
        with pytest.raises(ExitCodeLostError):
            await copy_from_pod(pods, "web-0", "/etc", tmp_path / "target")


async def test_a_tar_that_ends_before_its_input_does_is_successful(tmp_path: Path):
    steps = 0

    async def run(session: ExecSession) -> int:
        if session.command[0] == "test":
            return 1
        received = b""
        async for piece in session.stdin:
            received += piece
            if received.endswith(bytes(1024)):  # the end of an archive
                break
        for _ in range(steps):
            await asyncio.sleep(0)
        return 0

    (tmp_path / "file").write_text("text")
    async with served_pods(FunctionKubelet(exec=run)) as pods:
        # It ends while the client ends the input, or closes the connection.
        for steps in list(range(8)) * 8:  # noqa: B007  # `run` reads it
            result = await copy_to_pod(pods, "web-0", tmp_path, "copied")
            assert result.files == 1


async def test_cancelling_a_copy_ends_its_command_and_its_thread(tmp_path: Path):
    started, ended = asyncio.Event(), asyncio.Event()

    async def run(session: ExecSession) -> int:
        try:
            await session.stdout.write(archive(member("etc/file", b"x" * 100_000))[:50_000])
            started.set()
            await asyncio.Event().wait()
        finally:
            ended.set()
        return 0

    async with served_pods(FunctionKubelet(exec=run)) as pods:
        copying = asyncio.create_task(copy_from_pod(pods, "web-0", "/etc", tmp_path / "target"))
        await started.wait()
        copying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await copying
        await asyncio.wait_for(ended.wait(), 10)


def test_remote_paths_are_split_into_directory_and_name():
    assert split_remote_path("/etc/nginx/") == ("/etc", "nginx")
    assert split_remote_path("file") == (".", "file")
    assert split_remote_path("/") == ("/", ".")
    assert split_remote_path("a/..") == (".", ".")


def test_the_archive_of_a_root_has_all_paths():
    assert plan_member(member("./a/b")[0], ".").path == ("a", "b")
