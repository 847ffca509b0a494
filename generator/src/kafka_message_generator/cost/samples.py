"""Sample messages in files: one per line, as JSON with message, version and hex, or as plain hex."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from kafka_message_generator.spec.versions import Versions

_MOST_PROBLEMS = 20
_NO_HEX_DIGIT = re.compile(r"[^0-9a-fA-F]")
_KEYS: dict[str, type] = {"message": str, "version": int, "hex": str}


class CostError(Exception):
    """Raised for invalid or missing samples, messages and versions; one problem per line, at most 20."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        listed = problems[:_MOST_PROBLEMS]
        more = len(problems) - len(listed)
        super().__init__("\n".join((*listed, f"and {more} more") if more else listed))


@dataclass(frozen=True)
class CostSample:
    """Bytes of a message without header and length prefix; error messages start with ``place``."""

    data: bytes
    version: int
    place: str = "sample"


def read_samples(paths: Iterable[Path], message: str, valid: Versions, version: int | None = None) -> list[CostSample]:
    """Read the samples of one message from plain or ``.gz`` files.

    JSON lines of other messages or versions are skipped; plain hex belongs to ``message`` and ``version``. Raises
    CostError for unreadable files and invalid lines (``file:line: reason``), or if no sample is found.
    """
    reader = _SampleReader(message, valid, version)
    for path in paths:
        reader.read(path)
    if reader.problems:
        raise CostError(*reader.problems)
    if not reader.samples:
        raise CostError(reader.nothing())
    return reader.samples


class _BadLine(Exception):
    pass


@dataclass
class _SampleReader:
    message: str
    valid: Versions
    version: int | None
    samples: list[CostSample] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    others: set[tuple[str, int]] = field(default_factory=set)  # message and version of skipped samples

    def read(self, path: Path) -> None:
        try:
            with _open(path) as lines:
                for number, line in enumerate(lines, 1):
                    self.line(line.strip(), f"{path}:{number}")
        except UnicodeDecodeError:
            self.problems.append(f"{path}: is not UTF-8 text")
        except (OSError, EOFError, zlib.error) as error:
            self.problems.append(f"{path}: {getattr(error, 'strerror', None) or error}")

    def line(self, line: str, place: str) -> None:
        try:
            sample = self.sample(line, place) if line else None
        except _BadLine as error:
            self.problems.append(f"{place}: {error}")
        else:
            self.samples += [sample] if sample else []

    def sample(self, line: str, place: str) -> CostSample | None:
        if not line.startswith("{"):
            data = _data(line, "is neither a JSON object nor hex: ")
            if self.version is None:
                raise _BadLine("a line of hex requires --version N")
            return CostSample(data, self.version, place)
        message, version, text = _parts(line)
        if message != self.message or (self.version is not None and version != self.version):
            self.others.add((message, version))
            return None
        if version not in self.valid:
            raise _BadLine(f"{message} has no version {version}, only {self.valid}")
        return CostSample(_data(text, "'hex': "), version, place)

    def nothing(self) -> str:
        wanted = self.message if self.version is None else f"{self.message} version {self.version}"
        if not self.others:
            return f"no samples of {wanted} or of any other message"
        versions = sorted(version for name, version in self.others if name == self.message)
        names = sorted({name for name, _ in self.others})
        found = [f"version {version}" for version in versions] or names
        more = f" and {len(found) - 8} more" if len(found) > 8 else ""
        return f"no samples of {wanted}; found samples of {', '.join(found[:8])}{more}"


def _open(path: Path) -> TextIO:
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")


def _parts(line: str) -> tuple[str, int, str]:
    try:
        entry = json.loads(line)
    except json.JSONDecodeError as error:
        raise _BadLine(f"is not JSON: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError):
        raise _BadLine("is JSON that is nested too deeply or has a number with too many digits") from None
    for key, kind in _KEYS.items():
        if key not in entry:
            raise _BadLine(f"has no {key!r}; expected {', '.join(map(repr, _KEYS))}")
        if type(entry[key]) is not kind:
            what = "an integer" if kind is int else "a string"
            raise _BadLine(f"{key!r} must be {what}, not {json.dumps(entry[key])[:40]}")
    return entry["message"], entry["version"], entry["hex"]


def _data(text: str, what: str) -> bytes:
    wrong = _NO_HEX_DIGIT.search(text)
    if wrong:
        raise _BadLine(f"{what}{wrong[0]!r} at character {wrong.start() + 1} is not a hexadecimal digit")
    if len(text) % 2:
        raise _BadLine(f"{what}odd number of hex digits ({len(text)})")
    return bytes.fromhex(text)
