"""Read position of a stream, stored in Spark's checkpoint."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..._core.errors import invalid_argument

# Version of the offset format; checkpoints of other versions are rejected.
VERSION = 1
_SEGMENT = re.compile(r"[0-9]{20}\.log")


def base_of(name: str) -> int | None:
    """Return the base offset in a segment's name, or None."""
    return int(name[:20]) if _SEGMENT.fullmatch(name) else None


@dataclass(frozen=True)
class FolderPosition:
    """Position of a stream in the files of one kind in one folder."""

    # Files up to this name are done.
    through: str | None = None
    # Bytes read of later files; 0 for known files of which nothing was read.
    files: Mapping[str, int] = field(default_factory=dict)
    # Expected next offset in or after the last of these files, if known.
    next_offset: int | None = None
    # Size and first new offset of each rewritten file, which this batch reads from the start.
    again: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    # Start offset of the stream; lower records are skipped.
    from_offset: int | None = None

    def is_done(self, name: str) -> bool:
        return self.through is not None and name <= self.through

    def limits(self) -> dict[str, int]:
        """Return the exclusive end offsets of this batch's files by name; empty for tiered copies, which may overlap."""
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
    def from_json(cls, found: Mapping[str, Any]) -> FolderPosition:
        again = {name: (each["bytes"], each["from"]) for name, each in found.get("again", {}).items()}
        return cls(found.get("through"), found.get("files", {}), found.get("next"), again, found.get("from"))


@dataclass(frozen=True)
class Progress:
    """Positions of a stream by group of files.

    Keys are such as ``FOLDER/*.log`` for names that start with an offset, ``FOLDER/`` for other names.
    """

    folders: Mapping[str, FolderPosition] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"version": VERSION, "folders": {key: each.to_json() for key, each in self.folders.items()}}

    @classmethod
    def from_json(cls, owner: str, found: Mapping[str, Any]) -> Progress:
        """Parse a stream's offset; raise PySparkValueError for an unknown format version."""
        if found.get("version") != VERSION:
            raise invalid_argument(
                f"{owner}: unknown version {found.get('version')!r} of offsets in the checkpoint, expected {VERSION}; "
                "use a new checkpoint"
            )
        return cls({key: FolderPosition.from_json(each) for key, each in found["folders"].items()})
