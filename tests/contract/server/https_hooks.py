"""An HTTPS server in a thread, which answers webhooks of a test."""

import base64
import http.server
import json
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from listwatch.server.access.certificates import CertificateAuthority

Tree = dict[str, Any]


@dataclass(frozen=True)
class PlainAnswer:
    """A text with a status of HTTP."""

    status: int
    text: str


class HTTPSHooks:
    """Answers each POST with a function of the received review: bytes, a tree that is sent as JSON, or a text.

    The review has the `path` of the request.
    """

    def __init__(self, answer: Callable[[Tree], Any], folder: Path) -> None:
        authority = CertificateAuthority.create()
        pair = authority.issue("127.0.0.1", hosts=["127.0.0.1"])
        (folder / "cert").write_bytes(pair.certificate)
        (folder / "key").write_bytes(pair.key)
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(answer))
        self._server.daemon_threads = False  # so that `server_close` waits for those that still respond
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "cert", folder / "key")
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.client_config = {
            "url": f"https://127.0.0.1:{self._server.server_port}/hook",
            "caBundle": base64.b64encode(authority.certificate).decode(),
        }

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _handler(answer: Callable[[Tree], Any]) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found = answer({**review, "path": self.path.partition("?")[0]})
            plain = found if isinstance(found, PlainAnswer) else None
            body = plain.text.encode() if plain else found if isinstance(found, bytes) else json.dumps(found).encode()
            self.send_response(plain.status if plain else 200)
            self.send_header("Content-Type", "text/plain" if plain else "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
