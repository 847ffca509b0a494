"""The public names of each distribution, with their signatures, are those of the committed listings in ``api``."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.support.api_listing import listing
from tests.support.goldens import HINT, matches_golden, stale_goldens

ROOT = Path(__file__).parents[2]
LISTINGS = Path(__file__).parent / "api"
FOLDERS = [ROOT / "generator", ROOT / "generated", *sorted((ROOT / "packages").iterdir())]
SOURCES = [folder / "src" for folder in FOLDERS]
UNLISTED = {
    "kafka_message_generator": "a command; its package is the result",
    "kafka_protocol_pages": "a command; its site is the result",
    "kafka_protocol_upstream": "not published",
    "kafka_protocol_vectors": "data files",
}
"""Distributions without a listing, with the reason."""
DISTRIBUTIONS = {
    "kafka_messages": ["kafka_messages"],
    "kafka_records": ["kafka_records"],
    "kafka_messages_tools": ["kafka_messages_tools"],
    "kafka_messages_testkit": ["kafka_messages_testkit", "kafka_messages_testkit_plugin"],
    "kafka_conformance": ["kafka_conformance"],
    "kafka_messages_spark": ["kafka_messages_spark"],
    "kafka_messages_native": ["kafka_messages_native"],
}
WHAT_TO_DO = f"""A public name, parameter, default or type changed.
{HINT}; once something is released, the change also needs a line in changelog.d (see "Change log" in CONTRIBUTING.md)"""
LIBRARY = """
from __future__ import annotations

from typing import TypeVar, overload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._private import Lazy

__all__ = ["LIMIT", "Lazy", "Plain", "convert", "shared"]

from .common import shared

R = TypeVar("R")
LIMIT = 5
hidden = 1


@overload
def convert(value: int) -> str: ...
@overload
def convert(value: str) -> int: ...
def convert(value: int | str) -> int | str:
    return value


class Plain:
    level: int = 3

    def __init__(self, name: str) -> None:
        self.name = name

    def _helper(self) -> None: ...
"""
PRIVATE = """
class _Base:
    def inherited(self, *, timeout: float = 10) -> None: ...


class Lazy(_Base, ValueError):
    @property
    def state(self) -> str: ...

    @classmethod
    async def of(cls, data: bytes, /, *more: int, **options: str) -> Lazy: ...
"""
SHARED = """
import re

def shared(pattern: re.Pattern[str] | None = None) -> bool: ...
"""
LISTED = """\
library
library.LIMIT: = 5
library.Lazy.inherited: def(*, timeout: float = 10) -> None
library.Lazy.of: @classmethod async def(data: bytes, /, *more: int, **options: str) -> Lazy
library.Lazy.state: property str
library.Lazy: class(_Base, ValueError)
library.Plain.__init__: def(name: str) -> None
library.Plain.level: int = 3
library.Plain.name: str
library.Plain: class()
library.common
library.common.shared: def(pattern: re.Pattern[str] | None = None) -> bool
library.convert: def(value: int) -> str
library.convert: def(value: str) -> int
library.shared = library.common.shared
"""


@pytest.fixture(scope="module")
def without_messages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with kafka_messages without the modules of messages.

    They come from committed definitions, the package itself names them, and they take most of the time.
    """
    folder = tmp_path_factory.mktemp("api")
    (folder / "kafka_messages").mkdir()
    for path in (ROOT / "generated/src/kafka_messages").iterdir():
        if path.name != "messages":
            (folder / "kafka_messages" / path.name).symlink_to(path)
    return folder


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_public_names_are_those_of_the_committed_listing(distribution: str, without_messages: Path) -> None:
    found = listing(DISTRIBUTIONS[distribution], [without_messages, *SOURCES])
    matches_golden(LISTINGS / f"{distribution}.txt", found, WHAT_TO_DO)


def test_each_distribution_has_a_listing() -> None:
    files = [tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8")) for folder in FOLDERS]
    names = sorted(file["project"]["name"].replace("-", "_") for file in files)
    assert names == sorted([*DISTRIBUTIONS, *UNLISTED])
    assert stale_goldens(LISTINGS, [f"{name}.txt" for name in DISTRIBUTIONS]) == []


def of_library(folder: Path, text: str = LIBRARY) -> str:
    files = {"__init__": text, "_private": PRIVATE, "common": SHARED}
    (folder / "library").mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / "library" / f"{name}.py").write_text(content, encoding="utf-8")
    return listing(["library"], [folder])


def test_listing_has_each_public_name_with_its_signature(tmp_path: Path) -> None:
    """Lazy names and names from private modules are listed with their signatures; members of private bases too."""
    assert of_library(tmp_path) == LISTED


@pytest.mark.parametrize(
    ("old", "new", "removed", "added"),
    [
        ("(value: int)", "(number: int)", ["convert: def(value: int) -> str"], ["convert: def(number: int) -> str"]),
        ("level: int = 3", "level: float = 3", ["Plain.level: int = 3"], ["Plain.level: float = 3"]),
        (
            "name: str) -> None",
            "name: str = '') -> None",
            ["Plain.__init__: def(name: str) -> None"],
            ["Plain.__init__: def(name: str = '') -> None"],
        ),
        ('"LIMIT", ', "", ["LIMIT: = 5"], []),
    ],
    ids=["renamed parameter", "type", "default", "removed name"],
)
def test_change_of_the_api_changes_the_listing(
    tmp_path: Path, old: str, new: str, removed: list[str], added: list[str]
) -> None:
    before, after = (of_library(tmp_path, text).splitlines() for text in (LIBRARY, LIBRARY.replace(old, new)))
    assert [line for line in before if line not in after] == [f"library.{line}" for line in removed]
    assert [line for line in after if line not in before] == [f"library.{line}" for line in added]
