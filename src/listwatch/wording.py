"""Words of messages."""

__all__ = ["counted"]


def counted(number: int, noun: str) -> str:
    """Return `1 object` or `2 objects`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
