"""The group of all commands. The module of a command is imported when the command is known, so `--help` is fast.

To add a command, add a line to COMMANDS, its name to a package in _PACKAGES, and a module `commands/PACKAGE/NAME.py`
that defines a click command named `command`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import click

from listwatch._version import __version__
from listwatch.cli.cluster.connection import connection_options
from listwatch.cli.exit_codes import ExitCode
from listwatch.cli.shells import COMPLETE_VARIABLE, PROGRAM, SHELLS, detect_shell, install_completion

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["COMMANDS", "app", "run"]

COMMANDS = {
    "demo": "Show the pipeline of an informer, live, on an embedded API server.",
    "serve": "Serve an embedded API server until Ctrl-C.",
    "get": "Show objects.",
    "watch": "Print the changes of objects, through an informer.",
    "top": "Show a live table of any resource.",
    "describe": "Show an object in detail, with its events.",
    "tree": "Show objects with the objects that they own.",
    "logs": "Print the logs of a pod, or of many.",
    "exec": "Run a command in a container.",
    "attach": "Attach to the main process of a container.",
    "port-forward": "Forward local ports to a pod.",
    "cp": "Copy files to or from a container.",
    "debug": "Add an ephemeral container to a pod.",
    "events": "Show events.",
    "apply": "Apply manifests server-side.",
    "diff": "Show what an apply would change.",
    "delete": "Delete objects.",
    "run": "Run the controllers of a Python file.",
    "generate": "Generate CustomResourceDefinitions, classes, or configurations of webhooks.",
    "inspect": "Serve a live page with the states and objects of informers.",
    "record": "Record what informers of some resources receive, for `serve --replay`.",
    "cache": "Sync a cache of a resource, and report its size, memory and time.",
    "shards": "Show the replicas and shards of a shard group.",
    "api-resources": "List the resources of the server.",
    "completion": "Print the completion script of a shell.",
}
"""The commands with their descriptions, in the order of `--help`."""

_PACKAGES = {
    "resources": "get watch top describe tree logs events apply diff delete api-resources",
    "containers": "exec attach port-forward cp debug",
    "programs": "run generate inspect record cache shards",
    "embedded": "demo serve",
    "shell": "completion",
}
"""The packages of the commands."""

_EPILOG = "`listwatch COMMAND --help` describes a command. Without a cluster, try: listwatch get pods --embedded"


class _LazyGroup(click.Group):
    """A group that imports only the module of the command that runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        package = next(package for package, names in _PACKAGES.items() if cmd_name in names.split())
        module = import_module(f"listwatch.cli.commands.{package}.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        command.name = cmd_name
        command.help = command.help or COMMANDS[cmd_name]
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            ctx.fail(_unknown_command(args[0]))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)


def _unknown_command(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, COMMANDS, n=1)
    hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(COMMANDS)}."
    return f"No such command {name!r}. {hint}"


def _install_completion(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is None or ctx.resilient_parsing:
        return
    shell = detect_shell() if value == "$SHELL" else value
    if shell not in SHELLS:
        raise click.BadParameter(f"{shell!r} is none of {', '.join(SHELLS)}", ctx, param)
    files = " and ".join(map(str, install_completion(shell)))
    print(f"Wrote {files}. Start a new shell to use it.")
    ctx.exit()


@click.group(
    cls=_LazyGroup,
    epilog=_EPILOG,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name=PROGRAM, message="%(prog)s %(version)s")
@click.option(
    "--install-completion",
    is_flag=False,
    flag_value="$SHELL",
    metavar="[SHELL]",
    expose_value=False,
    is_eager=True,
    callback=_install_completion,
    help="Install completion for bash, zsh or fish, by default for $SHELL, and exit.",
)
@connection_options()
def app(**_options: object) -> None:
    """client-go for Python, on the command line."""
    # The options are the defaults of those of the command; `connection.py` reads them.


def run(arguments: Sequence[str]) -> int:
    """Run a command and return the exit code. Errors are printed without a traceback."""
    if instruction := os.environ.get(COMPLETE_VARIABLE):
        from click.shell_completion import shell_complete

        # Anything else than completions would be printed in the middle of the command that is being typed.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # until the process ends
        return shell_complete(app, {}, PROGRAM, COMPLETE_VARIABLE, instruction)
    try:
        with app.make_context(PROGRAM, [*arguments]) as context:
            code = app.invoke(context)
        sys.stdout.flush()
        return code if isinstance(code, int) else ExitCode.OK
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader, such as `head`, has read enough.
        _discard_output()
        return ExitCode.OK
    except Exception as error:
        from listwatch.cli.failures import explain

        explained = explain(error)
        if explained is None:
            raise
        if isinstance(error, OSError):
            _discard_output()
        print(f"error: {explained.message}", file=sys.stderr)
        return explained.code


def _discard_output() -> None:
    """Let the interpreter flush its buffer at exit without an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
