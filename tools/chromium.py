"""Drives a headless Chromium through its DevTools protocol, for tests and pictures of web pages.

    async with Chromium() as browser:
        page = await browser.open("http://127.0.0.1:8090/", width=1280, height=800)
        await page.wait_for("document.title == 'Inspector'")
        Path("page.png").write_bytes(await page.screenshot())

The browser is Debian's `chromium`, or the one in the environment variable CHROMIUM.
"""

from __future__ import annotations

import asyncio
import base64
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any, Self

import aiohttp

__all__ = ["Chromium", "ChromiumPage", "why_no_chromium"]

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_ADDRESS = re.compile(rb"DevTools listening on (ws://\S+)")
_OPTIONS = (
    "--headless=new",
    "--no-sandbox",  # containers run as root, and have no user namespaces
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
)
_POLL = """
new Promise((resolve) => {
  const holds = () => { try { return CONDITION; } catch { return false; } };
  const look = () => (holds() ? resolve(true) : setTimeout(look, 30));
  look();
})
"""


def _executable() -> str | None:
    given = os.environ.get("CHROMIUM", "")
    return shutil.which(given) if given else next(filter(None, map(shutil.which, _NAMES)), None)


def why_no_chromium() -> str:
    """Why no browser can be started; empty if there is one."""
    if _executable():
        return ""
    return f"no browser: none of {', '.join(_NAMES)} is in PATH; install Debian's package chromium, or set CHROMIUM"


class Chromium:
    """A browser of its own, with an empty profile, between entering and leaving."""

    def __init__(self) -> None:
        self._ids = count(1)
        self._responses: dict[int, asyncio.Future[Any]] = {}
        self._pages: dict[str, ChromiumPage] = {}

    async def __aenter__(self) -> Self:
        executable = _executable()
        if executable is None:
            raise FileNotFoundError(why_no_chromium())
        self._profile = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        self._process = await asyncio.create_subprocess_exec(
            executable,
            *_OPTIONS,
            f"--user-data-dir={self._profile.name}",
            "about:blank",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        assert self._process.stderr is not None
        seen = b""
        while not (found := _ADDRESS.search(seen)):
            line = await self._process.stderr.readline()
            if not line:
                raise OSError(f"{executable} has ended: {seen.decode(errors='replace')[-2000:]}")
            seen += line
        self._draining = asyncio.create_task(self._drain())
        self._session = aiohttp.ClientSession()
        self._socket = await self._session.ws_connect(found[1].decode(), max_msg_size=0)
        self._receiving = asyncio.create_task(self._receive())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._receiving.cancel()
        await self._socket.close()
        await self._session.close()
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()
        await asyncio.wait([self._draining, self._receiving])
        self._profile.cleanup()

    async def open(
        self, url: str, *, width: int = 1280, height: int = 900, dark: bool = False, scale: float = 1.0
    ) -> ChromiumPage:
        """Open a page in a new tab."""
        target = await self.call("Target.createTarget", {"url": "about:blank"})
        attached = await self.call("Target.attachToTarget", {"targetId": target["targetId"], "flatten": True})
        page = self._pages[attached["sessionId"]] = ChromiumPage(self, attached["sessionId"])
        for domain in ("Page", "Runtime", "Log"):
            await page.call(f"{domain}.enable")
        await page.resize(width, height, scale=scale)
        await page.use_scheme(dark=dark)
        await page.go(url)
        return page

    async def call(self, method: str, parameters: Mapping[str, object] | None = None, session: str = "") -> Any:
        """Call a method of the protocol, and return its result."""
        number = next(self._ids)
        self._responses[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": parameters or {}}
        await self._socket.send_json({**message, "sessionId": session} if session else message)
        return await self._responses[number]

    async def _receive(self) -> None:
        async for received in self._socket:
            message = received.json()
            if (future := self._responses.pop(message.get("id", 0), None)) is not None:
                if "error" in message:
                    future.set_exception(RuntimeError(message["error"]["message"]))
                else:
                    future.set_result(message["result"])
            elif page := self._pages.get(message.get("sessionId", "")):
                page._notice(message)

    async def _drain(self) -> None:
        """Read what the browser writes, so that it does not block."""
        assert self._process.stderr is not None
        while await self._process.stderr.read(65536):
            pass


class ChromiumPage:
    """One tab."""

    def __init__(self, browser: Chromium, session: str) -> None:
        self._browser = browser
        self._session = session
        self.errors: list[str] = []
        """Uncaught exceptions, and errors in the console, such as violations of the content security policy."""

    async def call(self, method: str, **parameters: object) -> Any:
        """Call a method of the protocol for this tab."""
        return await self._browser.call(method, parameters, self._session)

    async def go(self, url: str) -> None:
        """Load a URL; returns when the navigation has begun."""
        await self.call("Page.navigate", url=url)

    async def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression; a promise is awaited."""
        found = await self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            details = found["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description") or details["text"])
        return found["result"].get("value")

    async def wait_for(self, condition: str) -> None:
        """Wait until a JavaScript expression is true. An exception in it counts as false."""
        while True:
            try:
                await self.evaluate(_POLL.replace("CONDITION", condition))
            except RuntimeError as error:
                if "context" not in str(error) and "navigat" not in str(error):  # a navigation ended the old page
                    raise
            else:
                return

    async def text(self, selector: str) -> str:
        """The text of an element as it is displayed; empty if there is none."""
        return str(await self.evaluate(f"document.querySelector({selector!r})?.innerText ?? ''"))

    async def click(self, expression: str) -> None:
        """Click the element that an expression returns."""
        await self.evaluate(f"({expression}).click()")

    async def type(self, selector: str, text: str) -> None:
        """Focus an input, replace its contents, and type a text as a keyboard would."""
        await self.evaluate(f"(() => {{ const e = document.querySelector({selector!r}); e.focus(); e.select(); }})()")
        await self.call("Input.insertText", text=text)

    async def resize(self, width: int, height: int, *, scale: float = 1.0) -> None:
        """Set the size of the window in CSS pixels."""
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False
        )

    async def use_scheme(self, *, dark: bool) -> None:
        """Prefer the dark or the light color scheme."""
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        await self.call("Emulation.setEmulatedMedia", features=features)

    async def screenshot(self, *, whole_page: bool = False) -> bytes:
        """A picture as PNG."""
        found = await self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole_page)
        return base64.b64decode(found["data"])

    async def save_screenshot(self, path: Path, *, whole_page: bool = False) -> None:
        """Write a picture to a file."""
        path.write_bytes(await self.screenshot(whole_page=whole_page))  # noqa: ASYNC240  # a tool, not a server

    def _notice(self, message: Mapping[str, Any]) -> None:
        match message["method"], message["params"]:
            case "Runtime.exceptionThrown", {"exceptionDetails": details}:
                self.errors.append(details.get("exception", {}).get("description") or details["text"])
            case "Log.entryAdded", {"entry": {"level": "error", "text": text, **more}}:
                self.errors.append(f"{text} {more.get('url', '')}".strip())
