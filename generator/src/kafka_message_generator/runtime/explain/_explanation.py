"""Result of an explanation: bytes, tree of spans, and error."""

from __future__ import annotations

from collections.abc import Iterator

from .._core.formatting import json_value
from ..schema.spans import LENGTH, Span
from ..secrets import REDACTED
from ._secrets import note_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..errors import KafkaMessageError


class Explanation:
    """Spans of a message: ``root`` of the tree, ``title``, and ``error``, which ended decoding, or None.

    The spans have the true values; text and rows redact spans with ``is_secret``.
    """

    def __init__(self, data: bytes, title: str, root: Span, error: KafkaMessageError | None) -> None:
        self.data = data
        self.title = title
        self.root = root
        self.error = error

    def leaves(self) -> Iterator[Span]:
        """Iterate over the spans without children, which cover all bytes."""
        return self.root.leaves()

    def rows(self, *, show_secrets: bool = False, address: int = 0) -> Iterator[dict[str, object]]:
        """Yield the leaves as JSON-compatible dicts: start, end, path, type, role, value, note, and hex of the bytes.

        ``address`` is the address of the first byte. Secrets are redacted, except for their length. Rows of
        decompressed records follow the row of the compressed bytes; their ``unpacked`` is the path of that row, and
        their addresses start at 0.
        """
        yield from _rows(self.data, self.root, show_secrets, address)

    def text(
        self,
        *,
        width: int = 100,
        color: bool = False,
        show_secrets: bool = False,
        whole: bool = False,
        address: int = 0,
    ) -> str:
        """Return lines of address, hex, ASCII, field, value and type, at most ``width`` (72 or more) columns wide.

        ``color`` adds terminal escape sequences, ``whole`` prints all bytes of long fields, and ``address`` is the
        address of the first byte.
        """
        from ._text import TextRenderer

        text = TextRenderer(self.data, self.root.children, width, color, show_secrets, whole, address)
        return text.render(self.title, self.error)

    def __repr__(self) -> str:
        return f"<Explanation of {self.title}: {len(self.data)} bytes{', damaged' if self.error else ''}>"


def _rows(data: bytes, root: Span, show_secrets: bool, address: int) -> Iterator[dict[str, object]]:
    for leaf in root.leaves():
        is_redacted = leaf.is_secret and not show_secrets
        yield {
            "start": address + leaf.start,
            "end": address + leaf.end,
            "path": leaf.path or leaf.name,
            "type": leaf.type,
            "role": leaf.role,
            "value": REDACTED if is_redacted and leaf.role != LENGTH else json_value(leaf.value),
            "note": note_of(leaf, is_redacted),
            "hex": None if is_redacted else data[leaf.start : leaf.end].hex(),
        }
        if leaf.unpacked is not None:
            for row in _rows(*leaf.unpacked, show_secrets, 0):
                yield row | {"unpacked": leaf.path}
