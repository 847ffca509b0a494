"""Base classes of exceptions, exceptions about a message, and suggestions for unknown names."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class KafkaMessageError(Exception):
    """Base of all exceptions of this package."""


class PlacedError(KafkaMessageError, ValueError):
    """Base of exceptions about one field: ``message`` (name), ``version`` (-1 if unknown), ``path`` and ``reason``."""

    def __init__(self, reason: str, message: str = "", version: int = -1, path: str = "") -> None:
        super().__init__(reason, message, version, path)
        self.reason = reason
        self.message = message
        self.version = version
        self.path = path

    def __str__(self) -> str:
        where = self.message if self.version < 0 else f"{self.message} v{self.version}"
        return ": ".join([*filter(None, (where, self.path)), self.reason])


class DecodeError(PlacedError):
    """Malformed bytes.

    ``path`` is the field (``topics[3].leader_id``), ``offset`` the byte position or -1, and ``reason`` the cause.
    """

    def __init__(self, reason: str, message: str = "", version: int = -1, path: str = "", offset: int = -1) -> None:
        super().__init__(reason, message, version, path)
        self.args = (*self.args, offset)
        self.offset = offset


class EncodeError(PlacedError):
    """Value that cannot be written; ``path`` is the field and ``reason`` the cause."""


class UnsupportedVersionError(KafkaMessageError, ValueError):
    """Version that a message or API does not have, or that broker and package do not have in common."""


def did_you_mean(word: str, choices: Iterable[str], form: str = "{!r}", alike: float = 0.75) -> str:
    """Return ``; did you mean 'x'?`` with the closest choice, ignoring case, or "" if none is similar.

    ``form`` formats the choice; ``alike`` is the minimum similarity of ``difflib``, from 0 to 1.
    """
    from difflib import get_close_matches

    by_lower = {choice.lower(): choice for choice in choices}
    near = get_close_matches(word.lower(), by_lower, 1, alike)
    return f"; did you mean {form.format(by_lower[near[0]])}?" if near else ""
