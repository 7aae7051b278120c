"""Access to the inspector: token, Host, Origin, methods, and headers of responses."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest
from tests.inspector.served import TOKEN, Served, served

from listwatch.workqueue.queue import WorkQueue

PATHS = ("snapshot", "stream", "search", "object", "owned", "events", "reconciles", "other")
AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
async def page() -> AsyncIterator[Served]:
    async with served(WorkQueue(name="keys"), allowed_hosts=["Inspector.example.com"]) as page:
        yield page


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer "}, {"Authorization": f"Bearer {TOKEN}x"}, {"Authorization": TOKEN},
     {"Authorization": f"Basic {TOKEN}"}, {"Cookie": f"token={TOKEN}"}],
)  # fmt: skip
async def test_nothing_under_api_is_served_without_the_token(page: Served, path: str, headers: dict[str, str]):
    assert await page.status(f"/api/{path}", headers=headers) == 401


async def test_a_token_in_the_query_is_not_accepted(page: Served):
    assert await page.status(f"/api/snapshot?token={TOKEN}", headers={}) == 401


async def test_the_files_of_the_page_need_no_token_and_contain_none(page: Served):
    for path in ("/", "/inspector.css", "/inspector.js", "/icon.svg"):
        async with page.request(path, headers={}) as response:
            assert response.status == 200
            assert TOKEN not in await response.text()
    assert await page.status("/../options.py", headers=AUTHORIZED) == 404
    assert await page.status("/page/index.html", headers=AUTHORIZED) == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_only_reading_is_possible(page: Served, method: str):
    for path in ("/", "/api/snapshot", "/api/object"):
        assert await page.status(path, method=method) == 405


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost:80", "[::1]:90", "10.1.2.3", "inspector.example.com"])
async def test_addresses_and_allowed_names_are_accepted_as_host(page: Served, host: str):
    assert await page.status("/api/snapshot", headers={**AUTHORIZED, "Host": host}) == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "[", ""])
async def test_other_names_are_rejected_as_host(page: Served, host: str):
    for path in ("/", "/inspector.js", "/api/snapshot"):
        assert await page.status(path, headers={**AUTHORIZED, "Host": host}) in (400, 403)


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://["}, {"Origin": "http://127.0.0.1:1"},
     {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}],
)  # fmt: skip
async def test_requests_of_other_sites_are_rejected(page: Served, headers: dict[str, str]):
    assert await page.status("/api/snapshot", headers={**AUTHORIZED, **headers}) == 403


async def test_a_link_from_another_site_opens_the_page(page: Served):
    assert await page.status("/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}) == 200


async def test_requests_of_the_page_itself_are_accepted(page: Served):
    headers = {"Origin": page.address.rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    assert await page.status("/api/snapshot", headers={**AUTHORIZED, **headers}) == 200


@pytest.mark.parametrize("path", ["/", "/inspector.js", "/api/snapshot", "/api/other"])
async def test_every_response_has_a_strict_policy_and_no_cors_headers(page: Served, path: str):
    async with page.request(path, headers={**AUTHORIZED, "Origin": page.address.rstrip("/")}) as response:
        policy = response.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self';")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Referrer-Policy"] == "no-referrer"
        assert not [name for name in response.headers if name.lower().startswith("access-control")]


async def test_a_malformed_request_does_not_write_the_token_to_the_log(page: Served, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    port = int(page.address.rstrip("/").rpartition(":")[2])
    for request in (f"GET /{TOKEN} HTTP/9\r\n\r\n", f"GET / HTTP/1.1\r\n{TOKEN}\r\n\r\n", f"{TOKEN}\r\n\r\n"):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request.encode())
        await reader.read()
        writer.close()
        await writer.wait_closed()
    assert TOKEN not in caplog.text
