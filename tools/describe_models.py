"""Generates the models with descriptions: `python -m tools.describe_models SOURCE`, or `make descriptions`.

They come from a real kube-apiserver and, for what is newer than it, from the Go modules of the API.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from listwatch.testing.real.real_api_server_thread import RealAPIServer, RealAPIServerThread
from tools import build_realcluster, generate_models, generate_protobuf
from tools.models.meta_descriptions import write_meta_descriptions


def main(arguments: list[str]) -> int:
    if failed := build_realcluster.main():
        return failed
    everything = RealAPIServer(flags=["--runtime-config=api/all=true"])  # alpha and beta versions too
    with RealAPIServerThread(everything) as server, tempfile.TemporaryDirectory() as folder:
        token, certificate = Path(folder, "token"), Path(folder, "ca.crt")
        token.write_text(server.token)
        certificate.write_bytes(server.ca_certificate)
        access = [f"--descriptions={server.url}", f"--token-file={token}", f"--ca-file={certificate}"]
        folders = [f"--go-module={folder}" for folder in generate_protobuf.download(generate_protobuf.VERSION)]
        generate_models.main([*arguments, *access, *folders])
        write_meta_descriptions(server.config)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
