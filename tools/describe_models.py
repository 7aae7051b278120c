"""Generates the models with the descriptions of a real kube-apiserver: `python -m tools.describe_models SOURCE`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from listwatch.testing.real.real_api_server_thread import RealAPIServer, RealAPIServerThread
from tools import build_realcluster, generate_models


def main(arguments: list[str]) -> int:
    if failed := build_realcluster.main():
        return failed
    everything = RealAPIServer(flags=["--runtime-config=api/all=true"])  # alpha and beta versions too
    with RealAPIServerThread(everything) as server, tempfile.TemporaryDirectory() as folder:
        token, certificate = Path(folder, "token"), Path(folder, "ca.crt")
        token.write_text(server.token)
        certificate.write_bytes(server.ca_certificate)
        access = [f"--descriptions={server.url}", f"--token-file={token}", f"--ca-file={certificate}"]
        generate_models.main([*arguments, *access])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
