"""How far a stream of ``kafka_log`` has come: the offsets that Spark writes into the checkpoint."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..._core.errors import invalid_argument

VERSION = 1
"""Of the form of the offsets; a checkpoint with another one is refused."""
_SEGMENT = re.compile(r"[0-9]{20}\.log")


def base_of(name: str) -> int | None:
    """The base offset in the name of a segment, if it is one as a broker gives it."""
    return int(name[:20]) if _SEGMENT.fullmatch(name) else None


@dataclass(frozen=True)
class Folder:
    """How far the files of one kind in one folder were read."""

    through: str | None = None
    """Up to this name every file is done, and is not looked at any more."""
    files: Mapping[str, int] = field(default_factory=dict)
    """Bytes that were read of later files. The last one may be 0: it is known, and was not read yet."""
    next_offset: int | None = None
    """The offset that should follow in the last of these files, or behind it; None if that is not known."""
    again: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Rewritten files that this batch reads from their start: bytes, and the first offset that is new in them."""
    from_offset: int | None = None
    """Records below this offset are not read: where the stream was told to start."""

    def is_done(self, name: str) -> bool:
        """Whether a file is not looked at any more."""
        return self.through is not None and name <= self.through

    def limits(self) -> dict[str, int]:
        """The offsets that are not reached in the files of this batch, where they are known.

        Only for names that a broker gives: tiered copies, which have longer ones, may overlap.
        """
        names = sorted({*self.files, *self.again})
        bases = [base for name in names if (base := base_of(name)) is not None]
        if len(bases) < len(names):
            return {}
        found = dict(zip(names, bases[1:], strict=False))
        if self.next_offset is not None and self.files and (last := max(self.files)) == names[-1]:
            found[last] = self.next_offset
        return found

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {} if self.through is None else {"through": self.through}
        if self.files:
            found["files"] = dict(self.files)
        if self.next_offset is not None:
            found["next"] = self.next_offset
        if self.again:
            found["again"] = {name: {"bytes": size, "from": offset} for name, (size, offset) in self.again.items()}
        if self.from_offset is not None:
            found["from"] = self.from_offset
        return found

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Folder:
        again = {name: (each["bytes"], each["from"]) for name, each in found.get("again", {}).items()}
        return cls(found.get("through"), found.get("files", {}), found.get("next"), again, found.get("from"))


@dataclass(frozen=True)
class Progress:
    """All folders, by what is before the names of their files and the ending that these have in common."""

    folders: Mapping[str, Folder] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"version": VERSION, "folders": {key: each.to_json() for key, each in self.folders.items()}}

    @classmethod
    def from_json(cls, owner: str, found: Mapping[str, Any]) -> Progress:
        """Raises PySparkValueError for what is no offset of this source, or of a later release of it."""
        if found.get("version") != VERSION:
            raise invalid_argument(
                f"{owner}: the checkpoint has offsets of version {found.get('version')!r}, only {VERSION} is known"
            )
        return cls({key: Folder.from_json(each) for key, each in found["folders"].items()})
