"""The embedded API server: the Kubernetes API served from this process, for tests and development.

async with APIServer() as server: ...
"""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "APIRequest": "listwatch.server.requests",
    "APIServer": "listwatch.server.api_server",
    "Action": "listwatch.server.faults.faults",
    "Admission": "listwatch.server.requests",
    "AllowAll": "listwatch.server.access.access",
    "AttachSession": "listwatch.server.kubelet.sessions",
    "Authorizer": "listwatch.server.access.access",
    "CertificateAuthority": "listwatch.server.access.certificates",
    "ConnectionSettings": "listwatch.server.http.listener",
    "ContainerLog": "listwatch.server.kubelet.container_log",
    "CutStream": "listwatch.server.faults.faults",
    "Decision": "listwatch.server.access.access",
    "Delay": "listwatch.server.faults.faults",
    "DropBookmarks": "listwatch.server.faults.faults",
    "DropResponse": "listwatch.server.faults.faults",
    "ExecSession": "listwatch.server.kubelet.sessions",
    "Expire": "listwatch.server.faults.faults",
    "Fail": "listwatch.server.faults.faults",
    "Fault": "listwatch.server.faults.faults",
    "Faults": "listwatch.server.faults.faults",
    "FunctionKubelet": "listwatch.server.kubelet.kubelet",
    "HoldEvents": "listwatch.server.faults.faults",
    "InputStream": "listwatch.server.kubelet.byte_streams",
    "KeyPair": "listwatch.server.access.certificates",
    "Kubelet": "listwatch.server.kubelet.kubelet",
    "LogRequest": "listwatch.server.kubelet.sessions",
    "LoggedRequest": "listwatch.server.faults.request_log",
    "OutputStream": "listwatch.server.kubelet.byte_streams",
    "Playback": "listwatch.server.replay.playback",
    "PortConnection": "listwatch.server.kubelet.sessions",
    "ProxyRequest": "listwatch.server.kubelet.sessions",
    "ProxyResponse": "listwatch.server.kubelet.sessions",
    "Query": "listwatch.server.requests",
    "RecordingSummary": "listwatch.server.replay.summary",
    "Refuse": "listwatch.server.faults.faults",
    "RequestInfo": "listwatch.server.protocol.routes",
    "RequestLog": "listwatch.server.faults.request_log",
    "RequestPattern": "listwatch.server.faults.request_log",
    "Statistics": "listwatch.server.statistics",
    "Storage": "listwatch.server.storage.storage",
    "TerminalSize": "listwatch.server.kubelet.sessions",
    "TerminalSizes": "listwatch.server.kubelet.sessions",
    "User": "listwatch.server.requests",
    "WatchSettings": "listwatch.server.watch.watching",
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
    from listwatch.server.faults.faults import Action as Action
    from listwatch.server.faults.faults import CutStream as CutStream
    from listwatch.server.faults.faults import Delay as Delay
    from listwatch.server.faults.faults import DropBookmarks as DropBookmarks
    from listwatch.server.faults.faults import DropResponse as DropResponse
    from listwatch.server.faults.faults import Expire as Expire
    from listwatch.server.faults.faults import Fail as Fail
    from listwatch.server.faults.faults import Fault as Fault
    from listwatch.server.faults.faults import Faults as Faults
    from listwatch.server.faults.faults import HoldEvents as HoldEvents
    from listwatch.server.faults.faults import Refuse as Refuse
    from listwatch.server.faults.request_log import LoggedRequest as LoggedRequest
    from listwatch.server.faults.request_log import RequestLog as RequestLog
    from listwatch.server.faults.request_log import RequestPattern as RequestPattern
    from listwatch.server.http.listener import ConnectionSettings as ConnectionSettings
    from listwatch.server.kubelet.byte_streams import InputStream as InputStream
    from listwatch.server.kubelet.byte_streams import OutputStream as OutputStream
    from listwatch.server.kubelet.container_log import ContainerLog as ContainerLog
    from listwatch.server.kubelet.kubelet import FunctionKubelet as FunctionKubelet
    from listwatch.server.kubelet.kubelet import Kubelet as Kubelet
    from listwatch.server.kubelet.sessions import AttachSession as AttachSession
    from listwatch.server.kubelet.sessions import ExecSession as ExecSession
    from listwatch.server.kubelet.sessions import LogRequest as LogRequest
    from listwatch.server.kubelet.sessions import PortConnection as PortConnection
    from listwatch.server.kubelet.sessions import ProxyRequest as ProxyRequest
    from listwatch.server.kubelet.sessions import ProxyResponse as ProxyResponse
    from listwatch.server.kubelet.sessions import TerminalSize as TerminalSize
    from listwatch.server.kubelet.sessions import TerminalSizes as TerminalSizes
    from listwatch.server.protocol.routes import RequestInfo as RequestInfo
    from listwatch.server.replay.playback import Playback as Playback
    from listwatch.server.replay.summary import RecordingSummary as RecordingSummary
    from listwatch.server.requests import Admission as Admission
    from listwatch.server.requests import APIRequest as APIRequest
    from listwatch.server.requests import Query as Query
    from listwatch.server.requests import User as User
    from listwatch.server.statistics import Statistics as Statistics
    from listwatch.server.storage.storage import Storage as Storage
    from listwatch.server.watch.watching import WatchSettings as WatchSettings
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
