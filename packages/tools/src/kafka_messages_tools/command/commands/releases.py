"""Subcommand ``releases``: message versions of a release of Kafka, or of a KIP."""

from __future__ import annotations

import re
from typing import NamedTuple

from .._errors import NotFoundError
from .._fields import version_ranges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterable, Iterator
    from typing import Any

    from ...package import Package
    from .._output import Output

EXAMPLES = ("releases", "releases 4.1", "releases KIP-848")
MORE = "KIPs are those that Kafka's definitions name for a version; most versions have none."


class Change(NamedTuple):
    """Versions of a message that a release added or dropped in one way."""

    message: str
    versions: list[int]
    # "new message", "new version", "restored", "first definition" or "dropped".
    kind: str


def add_arguments(parser: ArgumentParser) -> None:
    about = "a release such as 4.1.0, a line such as 4.1 (its newest release), or a KIP such as KIP-848"
    parser.add_argument("subject", nargs="?", metavar="RELEASE_OR_KIP", help=about)


def run(given: Namespace, out: Output, package: Package) -> int:
    history = package.module("history")
    if given.subject is None:
        _all(history, out)
    elif kip := re.fullmatch(r"kip-?([0-9]{1,9})", given.subject, re.IGNORECASE | re.ASCII):
        _kip(history, int(kip[1]), out)
    else:
        try:
            release = history.release_of(given.subject)
        except ValueError as error:
            raise NotFoundError(f"{error}; for a KIP, write KIP-848") from None
        _release(history, release, out)
    return 0


def changes(history: Any, release: str) -> Iterator[Change]:
    """Yield the changes of a release, by message name."""
    number = history.RELEASES.index(release)
    for name in sorted(history.RUNS):
        now = set(history.versions_in(release, name))
        was = set(history.versions_in(history.RELEASES[number - 1], name)) if number else set()
        found: dict[str, list[int]] = {}
        for version in sorted(now - was):
            found.setdefault(_kind(history, release, name, version), []).append(version)
        found |= {"dropped": sorted(was - now)} if was - now else {}
        yield from (Change(name, versions, kind) for kind, versions in found.items())


def _kind(history: Any, release: str, name: str, version: int) -> str:
    if history.since(name, version) != release:
        return "restored"
    if release == history.RELEASES[0] or history.is_older(name, version):
        return "first definition"
    return "new message" if history.since(name) == release else "new version"


def _all(history: Any, out: Output) -> None:
    rows = []
    for release in reversed(history.RELEASES):
        found = list(changes(history, release))
        counts = [
            len({each.message for each in found if each.kind == "new message"}),
            sum(len(each.versions) for each in found if each.kind == "new version"),
            sum(len(each.versions) for each in found if each.kind == "dropped"),
        ]
        rows.append((release, *counts, sorted({kip for each in found for kip in _kips(history, each)})))
    head = ("release", "new messages", "new versions", "dropped versions", "KIPs")
    if out.is_json:
        for row in rows:
            out.record(dict(zip((name.replace(" ", "_").lower() for name in head), row, strict=True)))
    else:
        out.table(head, [(name, *(count or "" for count in counts), _named(kips)) for name, *counts, kips in rows])


def _release(history: Any, release: str, out: Output) -> None:
    found = list(changes(history, release))
    if out.is_json:
        for each in found:
            for version in each.versions:
                names = {"release": release, "message": each.message, "version": version, "change": each.kind}
                out.record(names | {"kips": list(_kips(history, each._replace(versions=[version])))})
    elif not found:
        out.line(f"Kafka {release} added and dropped no message versions")
    else:
        rows = [(each.message, version_ranges(each.versions), each.kind, _shown(history, each)) for each in found]
        out.table(("message", "versions", f"in Kafka {release}", "KIPs"), rows)


def _kips(history: Any, change: Change) -> dict[int, list[int]]:
    """Return the versions by KIP; none for dropped versions, whose KIPs added them."""
    found: dict[int, list[int]] = {}
    for version in change.versions if change.kind != "dropped" else ():
        for kip in history.kips_of(change.message, version):
            found.setdefault(kip, []).append(version)
    return found


def _shown(history: Any, change: Change) -> str:
    kips = _kips(history, change)
    if len(change.versions) == 1:
        return _named(kips)
    return ", ".join(f"{version_ranges(versions)}: KIP-{kip}" for kip, versions in kips.items())


def _kip(history: Any, kip: int, out: Output) -> None:
    found = history.versions_with_kip(kip)
    if not found:
        raise NotFoundError(f"Kafka's definitions name KIP-{kip} for no message version")
    rows = [
        (name, each, history.since(name, each), history.until(name, each)) for name in found for each in found[name]
    ]
    if out.is_json:
        for row in rows:
            out.record({"kip": kip} | dict(zip(("message", "version", "since", "until"), row, strict=True)))
    else:
        out.table(("message", "version", "since", "until"), rows)


def _named(kips: Iterable[int]) -> str:
    return ", ".join(f"KIP-{kip}" for kip in kips)
