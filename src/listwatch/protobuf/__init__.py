"""The Kubernetes protobuf codec: `application/vnd.kubernetes.protobuf` to JSON trees and back."""

from typing import TYPE_CHECKING

from listwatch._exports import lazy_exports

_HOMES = {
    "MEDIA_TYPE": "listwatch.protobuf.envelope",
    "Envelope": "listwatch.protobuf.envelope",
    "decode_message": "listwatch.protobuf.envelope",
    "decode_object": "listwatch.protobuf.envelope",
    "decode_watch_event": "listwatch.protobuf.envelope",
    "encode_list": "listwatch.protobuf.envelope",
    "encode_message": "listwatch.protobuf.envelope",
    "encode_object": "listwatch.protobuf.envelope",
    "encode_watch_frame": "listwatch.protobuf.envelope",
    "open_envelope": "listwatch.protobuf.envelope",
    "supports": "listwatch.protobuf.envelope",
}

__all__ = [*_HOMES]

# Type checkers read the imports, which name the same modules as _HOMES.
if TYPE_CHECKING:
    from listwatch.protobuf.envelope import MEDIA_TYPE as MEDIA_TYPE
    from listwatch.protobuf.envelope import Envelope as Envelope
    from listwatch.protobuf.envelope import decode_message as decode_message
    from listwatch.protobuf.envelope import decode_object as decode_object
    from listwatch.protobuf.envelope import decode_watch_event as decode_watch_event
    from listwatch.protobuf.envelope import encode_list as encode_list
    from listwatch.protobuf.envelope import encode_message as encode_message
    from listwatch.protobuf.envelope import encode_object as encode_object
    from listwatch.protobuf.envelope import encode_watch_frame as encode_watch_frame
    from listwatch.protobuf.envelope import open_envelope as open_envelope
    from listwatch.protobuf.envelope import supports as supports
else:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
