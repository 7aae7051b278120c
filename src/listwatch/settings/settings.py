"""Reads the settings of a program from a ConfigMap or Secret, and follows its changes.

    async with lw.Settings(client, "web/limits", Limits) as settings:
        settings.value.workers

An informer watches the object. A change that cannot be decoded is reported, and the last valid settings stay in use.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from listwatch.client.resources.client_set import ClientSet
from listwatch.clock import Clock, SystemClock, time_limit
from listwatch.errors import InformerStoppedError, SettingsError, UsageError, WaitTimeoutError
from listwatch.informer.shared_informer import SharedIndexInformer
from listwatch.settings.decoding import decoder_of
from listwatch.tasks.async_only import AsyncOnly

if TYPE_CHECKING:
    from listwatch.models.core_v1 import ConfigMap, Secret

__all__ = ["Settings"]

T = TypeVar("T")

_log = logging.getLogger("listwatch.settings")


class Settings(AsyncOnly, Generic[T]):
    """The settings in a ConfigMap or Secret, as `value`: always the last valid ones.

    `name` is `namespace/name`, or a name in the namespace of the client's configuration. `kind` is a class of your own:
    a dataclass, a Model or another type to which msgspec converts. Its fields are the keys of the object, and texts
    become numbers and booleans. With `file`, that key contains a YAML or JSON document instead. `parse` makes the
    settings from the texts by key, for all other cases.

    Entering waits until the object was read, at most `timeout` seconds. Without a `default`, a missing or invalid
    object is a SettingsError then. Later, both are logged and shown as `problem`, and the value stays.
    """

    def __init__(
        self,
        client: ClientSet,
        name: str,
        kind: type[T] | None = None,
        *,
        parse: Callable[[dict[str, str]], T] | None = None,
        secret: bool = False,
        file: str = "",
        default: T | None = None,
        timeout: float | None = None,
        clock: Clock | None = None,
    ) -> None:
        if (kind is None) is (parse is None):
            raise UsageError("Settings takes either the class of the settings or parse=, a function that makes them")
        if parse is not None and file:
            raise UsageError("Settings(parse=…) gets all keys of the object: read the document there, without file=")
        namespace, _, short = name.rpartition("/")
        if not short or "/" in namespace:
            raise UsageError(f"name={name!r}: expected the name of an object, or 'namespace/name'")
        namespace = namespace or client.rest.config.namespace
        self._name = f"{'Secret' if secret else 'ConfigMap'} {namespace}/{short}"
        self._decode = decoder_of(kind, parse, file)
        self._clock = clock or SystemClock()
        self._timeout = timeout
        self._informer = _informer_of(client, namespace, short, secret=secret, clock=self._clock)
        self._informer.add_handler(on_add=self._read, on_update=self._read_changed, on_delete=self._was_deleted)
        self._value = default
        self._version = ""
        self._problem: str | None = None
        self._changed = asyncio.Event()

    def __repr__(self) -> str:
        # Without the value: it may come from a Secret.
        return f"<Settings of {self._name}{f': {self._problem}' if self._problem else ''}>"

    @property
    def value(self) -> T:
        """The last valid settings, or the default."""
        if self._value is None:
            raise UsageError(f"the settings of {self._name} have no value yet; write `async with settings:`")
        return self._value

    @property
    def version(self) -> str:
        """The resource version of the object that the value was read from; empty for the default."""
        return self._version

    @property
    def problem(self) -> str | None:
        """Why the current state of the object is not used; None if it is used."""
        return self._problem

    async def wait_for_change(self, since: T, *, timeout: float | None = None) -> T:
        """Wait until the value differs from `since`, and return it; raises WaitTimeoutError.

        Pass the value that the program uses, so that no change is missed between two calls. When the settings are
        closed, it raises InformerStoppedError.
        """
        try:
            async with time_limit(self._clock, timeout):
                while self.value == since:
                    if self._informer.is_stopped:
                        raise InformerStoppedError(f"the settings of {self._name} are closed")
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise WaitTimeoutError(f"the settings of {self._name} did not change within {timeout} s") from None
        return self.value

    async def __aenter__(self) -> Self:
        await self._informer.__aenter__()
        try:
            await self._informer.wait_for_sync(self._timeout)
            if not len(self._informer.indexer):
                self._report("it does not exist")
            if self._value is None:
                raise SettingsError(f"{self._name}: {self._problem}")
        except BaseException:
            await self._informer.stop()
            raise
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Stop following the object; the value stays readable."""
        await self._informer.stop()
        self._changed.set()  # calls of wait_for_change end

    def _read(self, item: ConfigMap | Secret) -> None:
        try:
            value = self._decode(item)
        except SettingsError as error:
            self._report(str(error))
            return
        self._problem, self._version = None, item.resource_version
        if value != self._value:
            self._value = value
            self._changed.set()

    def _read_changed(self, _old: ConfigMap | Secret, new: ConfigMap | Secret) -> None:
        self._read(new)

    def _was_deleted(self, _item: ConfigMap | Secret) -> None:
        self._report("it was deleted")

    def _report(self, problem: str) -> None:
        self._problem = problem
        if self._value is not None:
            kept = "the last valid settings" if self._version else "the default"
            fields = {"key": self._name, "reason": problem}
            _log.warning("Keeping %s: %s: %s", kept, self._name, problem, extra=fields)


def _informer_of(
    client: ClientSet, namespace: str, name: str, *, secret: bool, clock: Clock
) -> SharedIndexInformer[ConfigMap] | SharedIndexInformer[Secret]:
    from listwatch.models.core_v1 import ConfigMap, Secret  # models are imported only where they are used

    selector = f"metadata.name={name}"
    if secret:
        secrets = client.core_v1.secrets(namespace).selecting(field_selector=selector)
        return SharedIndexInformer(secrets, Secret, clock=clock)
    configmaps = client.core_v1.configmaps(namespace).selecting(field_selector=selector)
    return SharedIndexInformer(configmaps, ConfigMap, clock=clock)
