"""The embedded API server: storage, validation, patches, watches, in the process that uses it.

async with APIServer() as server: ...
"""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "APIRequest": "listwatch.server.requests",
    "APIServer": "listwatch.server.api_server",
    "Admission": "listwatch.server.requests",
    "AllowAll": "listwatch.server.access.access",
    "Authorizer": "listwatch.server.access.access",
    "CertificateAuthority": "listwatch.server.access.certificates",
    "CutStream": "listwatch.server.faults.faults",
    "Decision": "listwatch.server.access.access",
    "Delay": "listwatch.server.faults.faults",
    "DropBookmarks": "listwatch.server.faults.faults",
    "Expire": "listwatch.server.faults.faults",
    "Fail": "listwatch.server.faults.faults",
    "Fault": "listwatch.server.faults.faults",
    "HoldEvents": "listwatch.server.faults.faults",
    "KeyPair": "listwatch.server.access.certificates",
    "LoggedRequest": "listwatch.server.faults.request_log",
    "DropResponse": "listwatch.server.faults.faults",
    "Refuse": "listwatch.server.faults.faults",
    "RequestLog": "listwatch.server.faults.request_log",
    "RequestPattern": "listwatch.server.faults.request_log",
    "User": "listwatch.server.requests",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.server.access.access import AllowAll as AllowAll
    from listwatch.server.access.access import Authorizer as Authorizer
    from listwatch.server.access.access import Decision as Decision
    from listwatch.server.access.certificates import CertificateAuthority as CertificateAuthority
    from listwatch.server.access.certificates import KeyPair as KeyPair
    from listwatch.server.api_server import APIServer as APIServer
    from listwatch.server.faults.faults import CutStream as CutStream
    from listwatch.server.faults.faults import Delay as Delay
    from listwatch.server.faults.faults import DropBookmarks as DropBookmarks
    from listwatch.server.faults.faults import DropResponse as DropResponse
    from listwatch.server.faults.faults import Expire as Expire
    from listwatch.server.faults.faults import Fail as Fail
    from listwatch.server.faults.faults import Fault as Fault
    from listwatch.server.faults.faults import HoldEvents as HoldEvents
    from listwatch.server.faults.faults import Refuse as Refuse
    from listwatch.server.faults.request_log import LoggedRequest as LoggedRequest
    from listwatch.server.faults.request_log import RequestLog as RequestLog
    from listwatch.server.faults.request_log import RequestPattern as RequestPattern
    from listwatch.server.requests import Admission as Admission
    from listwatch.server.requests import APIRequest as APIRequest
    from listwatch.server.requests import User as User
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
