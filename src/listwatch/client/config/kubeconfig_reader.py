"""Reads one kubeconfig file into `kubeconfig_entries`, or says what is wrong with it: file, entry and field.

It is as lenient as kubectl: unknown fields are ignored, null is as good as nothing, JSON will do as well as YAML.
No message repeats what a file says, because files hold passwords; it gives the place instead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import yaml

from listwatch.client.config.kubeconfig_entries import (
    AuthProvider,
    Body,
    BodyT,
    Cluster,
    Context,
    Extension,
    Kubeconfig,
    Named,
    User,
)
from listwatch.errors import ConfigError
from listwatch.objects.reading import read

__all__ = ["parsed", "read_bytes", "read_file", "together"]


class _Document(Body, frozen=True):
    """A whole file; its entries are read one by one, so that each can say what is wrong with it."""

    api_version: str = msgspec.field(default="", name="apiVersion")
    kind: str = ""
    current_context: str = ""
    clusters: tuple[Any, ...] = ()
    contexts: tuple[Any, ...] = ()
    users: tuple[Any, ...] = ()
    extensions: tuple[Extension, ...] = ()


class _Name(Body, frozen=True):
    name: str = ""


def read_file(path: str | os.PathLike[str]) -> Kubeconfig:
    """What a file says, its relative paths made absolute; raises FileNotFoundError, and ConfigError for all else."""
    file = os.path.abspath(path)
    try:
        content = Path(file).read_bytes()
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot be read: {getattr(error, 'strerror', 'that is no path')}", file=file) from None
    return read_bytes(content, file=file)


def read_bytes(content: bytes, *, file: str) -> Kubeconfig:
    """What the content of that file says."""
    return _Reader(file).read(content)


def together(errors: list[ConfigError]) -> ConfigError:
    """All of them as one."""
    if len(errors) == 1:
        return errors[0]
    files = {error.file for error in errors}
    if len(files) > 1:
        return ConfigError(f"{len(errors)} mistakes: {'; '.join(map(str, errors))}")
    each = (": ".join(filter(None, (error.entry, error.field, error.message))) for error in errors)
    return ConfigError(f"{len(errors)} mistakes: {'; '.join(each)}", file=files.pop())


class _Reader:
    """Reads one file and reports all of its wrong entries at once."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._mistakes: list[ConfigError] = []

    def read(self, content: bytes) -> Kubeconfig:
        document = self._document(content)
        kubeconfig = Kubeconfig(
            files=(self._file,),
            current_context=document.current_context,
            clusters=self._entries("clusters", document.clusters, Cluster),
            contexts=self._entries("contexts", document.contexts, Context),
            users=self._entries("users", document.users, User),
        )
        self._check_extensions("", document.extensions)
        if self._mistakes:
            raise together(self._mistakes)
        return kubeconfig

    def _document(self, content: bytes) -> _Document:
        try:
            tree = parsed(content)
        except ValueError as error:
            raise ConfigError(str(error), file=self._file) from None
        document = self._converted({} if tree is None else tree, _Document, entry="")
        if (document.kind or "Config", document.api_version or "v1") != ("Config", "v1"):
            message = "this is no kubeconfig, which has the kind Config and the apiVersion v1"
            raise ConfigError(message, file=self._file)
        return document

    def _entries(self, key: str, items: Iterable[Any], kind: type[BodyT]) -> dict[str, Named[BodyT]]:
        found: dict[str, Named[BodyT]] = {}
        for position, item in enumerate(items):
            try:
                named = self._entry(f"{key}[{position}]", item, kind)
                if named.name in found:
                    raise ConfigError("this name is given twice in one file", file=self._file, entry=named.entry)
                found[named.name] = named
            except ConfigError as error:
                self._mistakes.append(error)
        return found

    def _entry(self, position: str, item: Any, kind: type[BodyT]) -> Named[BodyT]:
        label = kind.__name__.lower()
        name = self._converted(item, _Name, entry=position).name
        if not name:
            raise ConfigError("is missing", file=self._file, entry=position, field="name")
        content = item.get(label)
        body = self._converted({} if content is None else content, kind, entry=f'{label} "{name}"')
        named = Named(name, self._file, _at_home(body, os.path.dirname(self._file)))
        self._check_extensions(named.entry, getattr(body, "extensions", ()))
        return named

    def _check_extensions(self, entry: str, extensions: Iterable[Extension]) -> None:
        names = [extension.name for extension in extensions]
        for name in sorted({name for name in names if names.count(name) > 1}):
            message = f'the extension "{name}" is given twice'
            self._mistakes.append(ConfigError(message, file=self._file, entry=entry, field="extensions"))

    def _converted(self, tree: Any, kind: type[BodyT], *, entry: str) -> BodyT:
        try:
            body: BodyT = read(_pruned(tree), kind)
        except msgspec.ValidationError as error:
            place, problem = _said_plainly(str(error))
        else:
            return body
        raise ConfigError(problem, file=self._file, entry=entry, field=place)


# --- Trees ------------------------------------------------------------------------------------------------------------

_FORMAT_DEPTH = 4  # user, exec, env, variable


def _pruned(tree: Any, depth: int = _FORMAT_DEPTH) -> Any:
    """Without nulls, as deep as the format goes; no deeper, because YAML can contain itself."""
    match tree:
        case dict() if depth:
            return {
                key: value if key == "extensions" else _pruned(value, depth - 1)
                for key, value in tree.items()
                if isinstance(key, str) and value is not None
            }
        case list() if depth:
            return [_pruned(item, depth - 1) for item in tree]
    return tree


_COMPLAINT = re.compile(r"Expected `([^`|]+)[^`]*`(?:, got `([^`]+)`)?(?: - at (?:`key` in )?`\$\.?([^`]*)`)?")
_WORDS = {
    "str": "text",
    "bool": "true or false",
    "int": "a number",
    "float": "a number",
    "array": "a list",
    "object": "a mapping",
    "null": "empty",
    "bytes": "binary data",
}


def _said_plainly(complaint: str) -> tuple[str, str]:
    """The field that msgspec complains of, and the complaint in the words of YAML."""
    found = _COMPLAINT.match(complaint)
    wanted, got, place = found.groups(default="") if found else ("", "", "")
    message = f"must be {_WORDS.get(wanted.strip(), 'something else')}, is {_WORDS.get(got, 'something else')}"
    in_quotes = "; put it in quotes" if wanted == "str" and got in ("int", "float", "bool") else ""
    return place, message + in_quotes


def _at_home(body: BodyT, folder: str) -> BodyT:
    """With relative paths made absolute: they start where the file is."""
    changed: dict[str, Any] = {}
    for name in ("certificate_authority", "client_certificate", "client_key", "token_file"):
        if path := getattr(body, name, ""):
            changed[name] = _absolute(path, folder)
    if isinstance(body, User) and body.exec:
        changed["exec"] = msgspec.structs.replace(body.exec, command=_absolute_command(body.exec.command, folder))
    if isinstance(body, User) and body.auth_provider:
        changed["auth_provider"] = _provider_at_home(body.auth_provider, folder)
    return msgspec.structs.replace(body, **changed)


def _provider_at_home(provider: AuthProvider, folder: str) -> AuthProvider:
    key = "idp-certificate-authority"
    authority = provider.config.get(key)
    resolved = {key: _absolute(authority, folder)} if authority else {}
    return msgspec.structs.replace(provider, config=provider.config | resolved)


def _absolute(path: str, folder: str) -> str:
    return os.path.normpath(os.path.join(folder, path))


def _absolute_command(command: str, folder: str) -> str:
    """A command without a slash is looked for in PATH, when it is run."""
    is_path = any(separator in command for separator in filter(None, (os.sep, os.altsep)))
    return _absolute(command, folder) if is_path else command


# --- Text -------------------------------------------------------------------------------------------------------------

_MAX_DEPTH = 200

_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SafeLoader):  # type: ignore[misc]  # the C loader if it is there
    """Reads YAML as kubectl does: dates stay text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in _SafeLoader.yaml_implicit_resolvers.items()
}


def parsed(content: bytes) -> Any:
    """The tree of a JSON or YAML text, of several documents the first; a ValueError says where it is neither."""
    if content.lstrip().startswith(b"{"):
        try:
            return msgspec.json.decode(content)
        except (msgspec.DecodeError, RecursionError):
            pass  # YAML too may start like this
    try:
        if not _is_too_deep(content):
            return next(yaml.load_all(content, Loader=_Loader), None)
        problem = "is nested too deeply"
    except (yaml.YAMLError, ValueError) as error:
        problem = _where_it_breaks(error)
    # Raised out here: the foreign error may quote the text.
    raise ValueError(problem)


def _is_too_deep(content: bytes) -> bool:
    """The C loader goes down as deep as a text does, and the process ends where the stack does."""
    depth = 0
    for event in yaml.parse(content, Loader=_Loader):
        match event:
            case yaml.CollectionStartEvent():
                depth += 1
            case yaml.CollectionEndEvent():
                depth -= 1
            case yaml.DocumentEndEvent():
                break
        if depth > _MAX_DEPTH:
            return True
    return False


def _where_it_breaks(error: Exception) -> str:
    mark, said = getattr(error, "problem_mark", None), getattr(error, "problem", None) or ""
    where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    # What PyYAML takes from the text it puts in quotes, and that may be a secret.
    reason = f": {said}" if said and not set(said) & set("'\"") else ""
    return f"is not valid YAML{where}{reason}"
