"""Selects the proxy for a URL: the configured one, or that of the environment variables, which are read as in Go."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from listwatch.client.config.client_config import PROXY_SCHEMES, url_problems
from listwatch.client.config.validated_config import raise_problems

__all__ = ["proxy_for"]

_Address = IPv4Address | IPv6Address


def proxy_for(url: str, *, configured: str, environment: Mapping[str, str]) -> str:
    """Return the URL of the proxy for a server; "" for a direct connection."""
    if configured:
        return configured
    server = urlsplit(url)
    name, proxy = _variable(environment, f"{server.scheme}_proxy")
    # In a CGI program, HTTP_PROXY is the `Proxy` header of the request, which any client can set.
    is_forgeable = server.scheme == "http" and "REQUEST_METHOD" in environment
    if not proxy or is_forgeable or _is_excluded(server, _variable(environment, "no_proxy")[1]):
        return ""
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    raise_problems("the environment", [*url_problems(name, proxy, (*PROXY_SCHEMES, "socks5h"))])
    return proxy


def _variable(environment: Mapping[str, str], name: str) -> tuple[str, str]:
    """The name and value of a variable. Upper case takes precedence over lower case."""
    name = name.upper() if environment.get(name.upper()) else name
    return name, environment.get(name, "")


def _is_excluded(server: SplitResult, rules: str) -> bool:
    host = (server.hostname or "").rstrip(".")
    port = server.port or (443 if server.scheme == "https" else 80)
    address = _parse_address(host)
    if host == "localhost" or (address and address.is_loopback):
        return True
    return any(_matches(rule.strip().lower(), host, address, port) for rule in rules.split(",") if rule.strip())


def _matches(rule: str, host: str, address: _Address | None, port: int) -> bool:
    if rule == "*":
        return True
    if "/" in rule:
        return address is not None and _contains(rule, address)
    name, rule_port = _split_port(rule)
    if rule_port and rule_port != str(port):
        return False
    if address is not None:
        return _parse_address(name) == address
    # ".example.com" and "*.example.com" match subdomains; "example.com" also matches the domain itself.
    suffix = "." + name.removeprefix("*").lstrip(".")
    return host.endswith(suffix) or (name[:1] not in (".", "*") and host == name)


def _split_port(rule: str) -> tuple[str, str]:
    if rule.startswith("["):
        name, _, port = rule[1:].partition("]")
        return name, port.removeprefix(":")
    if _parse_address(rule):  # a bare IPv6 address has colons
        return rule, ""
    name, _, port = rule.partition(":")
    return name, port


def _parse_address(host: str) -> _Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _contains(network: str, address: _Address) -> bool:
    try:
        return address in ip_network(network, strict=False)
    except ValueError:
        return False
