"""Reads one kubeconfig file into `kubeconfig_entries`. Errors name the file, the entry and the field.

It is as lenient as kubectl: unknown fields are ignored, null means absent, and JSON is accepted as well as YAML.
Messages do not quote the file, because it contains secrets.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec
import yaml

from listwatch.client.config.bounded_files import read_any_file
from listwatch.client.config.kubeconfig_entries import (
    AuthProvider,
    Cluster,
    Context,
    Extension,
    Kubeconfig,
    NamedEntry,
    Section,
    User,
)
from listwatch.errors import ConfigError
from listwatch.json_value import JSON
from listwatch.objects.json.reading import read
from listwatch.objects.yaml.yaml_loader import AliasExpansionError, BoundedLoader, NestingError, RecursiveAliasError

__all__ = ["combine_errors", "load_document", "parse_kubeconfig", "read_file"]

SectionT = TypeVar("SectionT", bound=Section)


class _Document(Section, frozen=True):
    """A whole file. Its entries are decoded one by one, so that each error can name its entry."""

    api_version: str = msgspec.field(default="", name="apiVersion")
    kind: str = ""
    current_context: str = ""
    clusters: tuple[Any, ...] = ()  # msgspec cannot decode the recursive type JSON
    contexts: tuple[Any, ...] = ()
    users: tuple[Any, ...] = ()
    extensions: tuple[Extension, ...] = ()


class _Name(Section, frozen=True):
    name: str = ""


def read_file(path: str | os.PathLike[str]) -> Kubeconfig:
    """Read a file and make its relative paths absolute; FileNotFoundError, or ConfigError for any other failure."""
    file = os.path.abspath(path)
    try:
        content = read_any_file(file)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot be read: {getattr(error, 'strerror', 'the path is invalid')}", file=file) from None
    return parse_kubeconfig(content, file=file)


def parse_kubeconfig(content: bytes, *, file: str) -> Kubeconfig:
    """Parse the contents of a file; `file` is its path, for messages and relative paths."""
    return _Reader(file).read(content)


def combine_errors(errors: list[ConfigError]) -> ConfigError:
    """Return one error that reports all of these."""
    if len(errors) == 1:
        return errors[0]
    files = {error.file for error in errors}
    if len(files) > 1:
        return ConfigError(f"{len(errors)} errors: {'; '.join(map(str, errors))}")
    each = (": ".join(filter(None, (error.entry, error.field, error.message))) for error in errors)
    return ConfigError(f"{len(errors)} errors: {'; '.join(each)}", file=files.pop())


class _Reader:
    """Reads one file, and reports all of its invalid entries in one error."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._errors: list[ConfigError] = []

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
        if self._errors:
            raise combine_errors(self._errors)
        return kubeconfig

    def _document(self, content: bytes) -> _Document:
        try:
            tree = load_document(content)
        except ValueError as error:
            raise ConfigError(str(error), file=self._file) from None
        document = self._decode({} if tree is None else tree, _Document, entry="")
        if (document.kind or "Config", document.api_version or "v1") != ("Config", "v1"):
            message = "is not a kubeconfig; expected kind Config and apiVersion v1"
            raise ConfigError(message, file=self._file)
        return document

    def _entries(self, key: str, items: Iterable[JSON], kind: type[SectionT]) -> dict[str, NamedEntry[SectionT]]:
        found: dict[str, NamedEntry[SectionT]] = {}
        for position, item in enumerate(items):
            try:
                named = self._entry(f"{key}[{position}]", item, kind)
                if named.name in found:
                    raise ConfigError("this name appears twice in the file", file=self._file, entry=named.label)
                found[named.name] = named
            except ConfigError as error:
                self._errors.append(error)
        return found

    def _entry(self, position: str, item: JSON, kind: type[SectionT]) -> NamedEntry[SectionT]:
        label = kind.__name__.lower()
        name = self._decode(item, _Name, entry=position).name
        if not name:
            raise ConfigError("is missing", file=self._file, entry=position, field="name")
        content = item.get(label) if isinstance(item, dict) else None
        body = self._decode({} if content is None else content, kind, entry=f'{label} "{name}"')
        named = NamedEntry(name, self._file, _with_absolute_paths(body, os.path.dirname(self._file)))
        self._check_extensions(named.label, getattr(body, "extensions", ()))
        return named

    def _check_extensions(self, entry: str, extensions: Iterable[Extension]) -> None:
        names = [extension.name for extension in extensions]
        for name in sorted({name for name in names if names.count(name) > 1}):
            message = f'the extension "{name}" appears twice'
            self._errors.append(ConfigError(message, file=self._file, entry=entry, field="extensions"))

    def _decode(self, tree: JSON, kind: type[SectionT], *, entry: str) -> SectionT:
        try:
            body: SectionT = read(_pruned(tree), kind)
        except msgspec.ValidationError as error:
            place, problem = _translate(str(error))
        else:
            return body
        raise ConfigError(problem, file=self._file, entry=entry, field=place)


# --- Decoding ---------------------------------------------------------------------------------------------------------

_FORMAT_DEPTH = 4  # user, exec, env, variable


def _pruned(tree: JSON, depth: int = _FORMAT_DEPTH) -> JSON:
    """Remove nulls, down to the depth of the format: a YAML document can contain itself."""
    match tree:
        case dict() if depth:
            return {
                key: value if key == "extensions" else _pruned(value, depth - 1)
                for key, value in tree.items()
                if isinstance(key, str) and value is not None  # type: ignore[redundant-expr]  # YAML has other keys
            }
        case list() if depth:
            return [_pruned(item, depth - 1) for item in tree]
    return tree


_VALIDATION_MESSAGE = re.compile(r"Expected `([^`|]+)[^`]*`(?:, got `([^`]+)`)?(?: - at (?:`key` in )?`\$\.?([^`]*)`)?")
_WORDS = {
    "str": "a string",
    "bool": "true or false",
    "int": "a number",
    "float": "a number",
    "array": "a list",
    "object": "a mapping",
    "null": "empty",
    "bytes": "binary data",
}


def _translate(message: str) -> tuple[str, str]:
    """Return the field of a validation error of msgspec, and its message in the terms of YAML."""
    found = _VALIDATION_MESSAGE.match(message)
    wanted, got, place = found.groups(default="") if found else ("", "", "")
    problem = f"must be {_WORDS.get(wanted.strip(), 'something else')}, is {_WORDS.get(got, 'something else')}"
    in_quotes = "; put it in quotes" if wanted == "str" and got in ("int", "float", "bool") else ""
    return place, problem + in_quotes


def _with_absolute_paths(body: SectionT, folder: str) -> SectionT:
    """Resolve relative paths against the folder of the file."""
    changed: dict[str, object] = {}
    for name in ("certificate_authority", "client_certificate", "client_key", "token_file"):
        if path := getattr(body, name, ""):
            changed[name] = _absolute(path, folder)
    if isinstance(body, User) and body.exec:
        changed["exec"] = msgspec.structs.replace(body.exec, command=_absolute_command(body.exec.command, folder))
    if isinstance(body, User) and body.auth_provider:
        changed["auth_provider"] = _provider_with_absolute_paths(body.auth_provider, folder)
    return msgspec.structs.replace(body, **changed)


def _provider_with_absolute_paths(provider: AuthProvider, folder: str) -> AuthProvider:
    key = "idp-certificate-authority"
    authority = provider.config.get(key)
    resolved = {key: _absolute(authority, folder)} if authority else {}
    return msgspec.structs.replace(provider, config=provider.config | resolved)


def _absolute(path: str, folder: str) -> str:
    return os.path.normpath(os.path.join(folder, path))


def _absolute_command(command: str, folder: str) -> str:
    """Resolve a command that is a path; one without a slash is looked up in PATH when it is run."""
    is_path = any(separator in command for separator in filter(None, (os.sep, os.altsep)))
    return _absolute(command, folder) if is_path else command


# --- YAML -------------------------------------------------------------------------------------------------------------

_STRING, _TIMESTAMP = "tag:yaml.org,2002:str", "tag:yaml.org,2002:timestamp"


class _Loader(BoundedLoader):
    """Reads YAML as kubectl does: dates and base-60 numbers are strings."""

    def resolve(self, kind: type[yaml.Node], value: str, implicit: object) -> object:
        tag = super().resolve(kind, value, implicit)
        return _STRING if tag == _TIMESTAMP or (kind is yaml.ScalarNode and ":" in value) else tag


def load_document(content: bytes) -> JSON:
    """Parse JSON or the first YAML document; ValueError with the position if it is neither."""
    if content.lstrip().startswith(b"{"):
        try:
            document: JSON = msgspec.json.decode(content)
        except (msgspec.DecodeError, RecursionError):
            pass  # flow-style YAML starts like JSON
        else:
            return document
    try:
        return next(yaml.load_all(content, Loader=_Loader), None)
    except NestingError:
        problem = "is nested too deeply"
    except AliasExpansionError:
        problem = "has aliases that expand to too much data"
    except RecursiveAliasError:
        problem = "has an alias that refers to itself"
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = _yaml_problem(error)
    # Raised outside the handler: the original error may quote the file.
    raise ValueError(problem)


def _yaml_problem(error: Exception) -> str:
    mark, reason = getattr(error, "problem_mark", None), getattr(error, "problem", None) or ""
    where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    # PyYAML quotes what it takes from the file, and that may be a secret.
    shown = f": {reason}" if reason and not set(reason) & set("'\"") else ""
    return f"is not valid YAML{where}{shown}"
