"""Runs an API server until SIGINT or SIGTERM: `python -m listwatch.server --port 8001 --write-kubeconfig FILE`.

`listwatch serve` does the same; this program needs no command line library.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from listwatch.errors import ListWatchError
from listwatch.server.serving import TOKEN_VARIABLE, ServeOptions, serve

_DESCRIPTION = """\
Run an embedded API server until SIGINT or SIGTERM.

    python -m listwatch.server --write-kubeconfig kubeconfig
    kubectl --kubeconfig kubeconfig get --raw /readyz

Without options that set a token, it writes a kubeconfig to a temporary directory and prints the line to use it.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM; returns the exit code."""
    options = ServeOptions(**vars(_parser().parse_args(arguments)))
    try:
        serve(options)
    except ListWatchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m listwatch.server",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=_port, default=0, help="the port to listen on (default: a free port)")
    parser.add_argument(
        "--write-kubeconfig",
        metavar="FILE",
        help="write a kubeconfig with the administrator's token to FILE, readable by its owner only",
    )
    parser.add_argument(
        "--data-dir",
        metavar="DIR",
        help="persist all objects, the token and the certificate authority in this directory (default: memory only)",
    )
    parser.add_argument(
        "--snapshot", metavar="FILE", help="start with the objects of a file of APIServer.save_snapshot"
    )
    parser.add_argument(
        "--import",
        action="append",
        default=[],
        dest="imports",
        metavar="FILE",
        help="store the objects of a YAML file as they are, such as the output of kubectl get -o yaml; can be repeated",
    )
    parser.add_argument(
        "--tls",
        action=argparse.BooleanOptionalAction,
        help="serve HTTPS, with a generated certificate authority (default: with --write-kubeconfig)",
    )
    token = parser.add_mutually_exclusive_group()
    token.add_argument(
        "--token-file",
        metavar="FILE",
        help=f"a file with the bearer token of the administrator (default: ${TOKEN_VARIABLE}, or generated)",
    )
    token.add_argument(
        "--token", help="the bearer token itself; other users of this machine can see it in the list of processes"
    )
    parser.add_argument("--anonymous", action="store_true", help="allow requests without credentials")
    parser.add_argument(
        "--authorization-mode",
        choices=["AlwaysAllow", "RBAC"],
        default="AlwaysAllow",
        help="whether roles and bindings decide what users may do; the administrator may do everything "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--enable-admission-plugins",
        default="",
        metavar="NAMES",
        help="admission plugins to enable that are disabled by default: ServiceAccount",
    )
    parser.add_argument(
        "--disable-admission-plugins",
        default="",
        metavar="NAMES",
        help="admission plugins to disable, separated by commas, such as ResourceQuota",
    )
    parser.add_argument(
        "--controllers",
        default="*",
        metavar="NAMES",
        help="the built-in controllers to run, as for kube-controller-manager: *,-NAME for all but one (default: all)",
    )
    parser.add_argument(
        "--webhook-service",
        action="append",
        default=[],
        metavar="NAMESPACE/NAME=URL",
        help="where the service of a webhook listens; NAMESPACE may be *; can be repeated",
    )
    parser.add_argument(
        "--simulate", action="store_true", help="simulate a cluster: nodes, a scheduler, controllers and running pods"
    )
    parser.add_argument(
        "--simulated-nodes", type=int, default=3, metavar="N", help="the number of nodes (default: %(default)s)"
    )
    parser.add_argument("--stages", metavar="FILE", help="a YAML file with stages of simulated pods and nodes")
    parser.add_argument("--replay", metavar="FILE", help="replay a recording of a client; writes are rejected")
    parser.add_argument("--speed", default="1", help="the speed of the replay: a number, or max (default: %(default)s)")
    parser.add_argument(
        "--start-at", type=float, default=0.0, metavar="SECONDS", help="play the first seconds of the recording at once"
    )
    parser.add_argument(
        "--wait-for-watches", type=int, default=0, metavar="N", help="start the replay when N watches are open"
    )
    return parser


def _port(text: str) -> int:
    if not (text.isdecimal() and int(text) < 2**16):
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; pass a number from 0 to 65535")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
