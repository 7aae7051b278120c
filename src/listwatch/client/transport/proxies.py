"""Which proxy a request goes through: the one that is configured, or what the environment says, read as Go does.

`transport` asks once for the API server, and for every other server that it fetches something from.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from listwatch.client.config.client_config import PROXY_SCHEMES, url_problems
from listwatch.client.config.validated_config import raise_problems

__all__ = ["proxy_for"]

_Address = IPv4Address | IPv6Address


def proxy_for(url: str, *, configured: str, environment: Mapping[str, str]) -> str:
    """The URL of the proxy for a server; empty if there is none."""
    if configured:
        return configured
    server = urlsplit(url)
    name, proxy = _variable(environment, f"{server.scheme}_proxy")
    # A web server tells a CGI program of a request's `Proxy` header in this variable, so anybody could set it.
    is_forged = server.scheme == "http" and "REQUEST_METHOD" in environment
    if not proxy or is_forged or _is_excepted(server, _variable(environment, "no_proxy")[1]):
        return ""
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    raise_problems("the environment", [*url_problems(name, proxy, (*PROXY_SCHEMES, "socks5h"))])
    return proxy


def _variable(environment: Mapping[str, str], name: str) -> tuple[str, str]:
    """The variable that counts, and what it says."""
    name = name.upper() if environment.get(name.upper()) else name
    return name, environment.get(name, "")


def _is_excepted(server: SplitResult, rules: str) -> bool:
    host = (server.hostname or "").rstrip(".")
    port = server.port or (443 if server.scheme == "https" else 80)
    address = _address(host)
    if host == "localhost" or (address and address.is_loopback):
        return True
    return any(_applies(rule.strip().lower(), host, address, port) for rule in rules.split(",") if rule.strip())


def _applies(rule: str, host: str, address: _Address | None, port: int) -> bool:
    if rule == "*":
        return True
    if "/" in rule:
        return address is not None and _contains(rule, address)
    name, rule_port = _split_port(rule)
    if rule_port and rule_port != str(port):
        return False
    if address is not None:
        return _address(name) == address
    # A leading dot or star asks for what is below a domain; a plain name also for the domain itself.
    suffix = "." + name.removeprefix("*").lstrip(".")
    return host.endswith(suffix) or (name[:1] not in (".", "*") and host == name)


def _split_port(rule: str) -> tuple[str, str]:
    if rule.startswith("["):
        name, _, port = rule[1:].partition("]")
        return name, port.removeprefix(":")
    if _address(rule):  # the colons of a bare IPv6 address
        return rule, ""
    name, _, port = rule.partition(":")
    return name, port


def _address(host: str) -> _Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _contains(network: str, address: _Address) -> bool:
    try:
        return address in ip_network(network, strict=False)
    except ValueError:
        return False
