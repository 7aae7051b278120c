"""Converts the data of a ConfigMap or Secret into the settings of a program."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

import msgspec
import yaml

from listwatch.errors import SettingsError
from listwatch.objects.yaml.yaml_loader import BoundedLoader

if TYPE_CHECKING:
    from listwatch.models.core_v1 import ConfigMap, Secret

__all__ = ["Decode", "decoder_of"]

T = TypeVar("T")

# Of fields of the class of the settings, not of values.
_MISSING = re.compile(r"Object missing required field `\w+`( - at `\$[^`]*`)?")
_PLACE = re.compile(r" - at (`\$[^`]*`)$")

Decode = Callable[["ConfigMap | Secret"], T]


def decoder_of(kind: type[T] | None, parse: Callable[[dict[str, str]], T] | None, file: str) -> Decode[T]:
    """Return a function that makes settings from an object; it raises SettingsError.

    Errors about a Secret name the field and never its value.
    """
    from listwatch.models.core_v1 import Secret  # models are imported only where they are used

    def decode(item: ConfigMap | Secret) -> T:
        is_secret = isinstance(item, Secret)
        try:
            texts = _texts(item)
            if parse is not None:
                return _parsed(parse, texts)
            assert kind is not None, "the constructor checks it"
            if file:
                return msgspec.convert(_document(texts, file), kind)
            return msgspec.convert(texts, kind, strict=False)
        except SettingsError:
            raise
        except msgspec.ValidationError as error:
            raise SettingsError(_place(str(error)) if is_secret else str(error)) from None
        except yaml.YAMLError as error:
            reason = "" if is_secret else f": {' '.join(str(error).split())}"
            raise SettingsError(f"{file!r} is not valid YAML{reason}") from None
        except Exception as error:  # noqa: BLE001  # a function of the user may raise anything
            reason = "" if is_secret else f": {error}"
            raise SettingsError(f"reading it raised {type(error).__name__}{reason}") from (None if is_secret else error)

    return decode


def _parsed(parse: Callable[[dict[str, str]], T], texts: dict[str, str]) -> T:
    value = parse(texts)
    if value is None:
        raise SettingsError("the function parse= returned None")
    return value


def _texts(item: ConfigMap | Secret) -> dict[str, str]:
    """The texts of an object by key. Binary values that are not text are left out."""
    from listwatch.models.core_v1 import ConfigMap, Secret

    texts: dict[str, str] = {}
    for key, value in ((item.data if isinstance(item, Secret) else item.binary_data) or {}).items():
        try:
            texts[key] = value.decode()
        except UnicodeDecodeError:
            continue
    if isinstance(item, ConfigMap):
        texts.update(item.data or {})
    return texts


def _document(texts: Mapping[str, str], file: str) -> object:
    if file not in texts:
        raise SettingsError(f"it has no key {file!r}; its keys are {', '.join(sorted(texts)) or 'none'}")
    return yaml.load(texts[file], BoundedLoader)


def _place(message: str) -> str:
    """What is known of an error without the value: the end of msgspec's message names the field."""
    if _MISSING.fullmatch(message):
        return message
    found = _PLACE.search(message)
    return f"the value at {found[1]} is invalid" if found else "the values are invalid"
