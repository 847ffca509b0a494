"""Subcommand ``releases``: message versions of a release of Kafka, or of a KIP."""

from __future__ import annotations

import re
from itertools import groupby

from .._errors import NotFoundError
from .._fields import version_ranges
from .._output import note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator
    from typing import Any

    from ...package import Package
    from .._output import Output

EXAMPLES = ("releases 4.1", "releases KIP-848")
MORE = "KIPs are those that Kafka's definitions name for a version; most versions have none."


def add_arguments(parser: ArgumentParser) -> None:
    about = "a release such as 4.1.0, a line such as 4.1 (all its releases), or a KIP such as KIP-848"
    parser.add_argument("subject", metavar="RELEASE_OR_KIP", help=about)


def run(given: Namespace, out: Output, package: Package) -> int:
    history = package.module("history")
    if kip := re.fullmatch(r"(?:kip[- ]?)?([0-9]{1,9})", given.subject, re.IGNORECASE | re.ASCII):
        _kip(history, int(kip[1]), out)
    else:
        try:
            newest = history.release_of(given.subject)
        except ValueError as error:
            raise NotFoundError(f"{error}; for a KIP, write KIP-848") from None
        line = [release for release in history.RELEASES if release.startswith(f"{given.subject}.")]
        for release in line or [newest]:
            _release(history, release, out)
    return 0


def changes(history: Any, release: str) -> Iterator[tuple[str, int, str, str | None, tuple[int, ...]]]:
    """Yield message, version, change, first unstable release and KIPs of each version that a release added or dropped.

    Dropped versions have no KIPs here: theirs are those that added them.
    """
    number = history.RELEASES.index(release)
    for name in sorted(history.RUNS):
        now = set(history.versions_in(release, name))
        was = set(history.versions_in(history.RELEASES[number - 1], name)) if number else set()
        for version in sorted(now ^ was):
            if version in was:
                yield name, version, "dropped", None, ()
            else:
                kind = _kind(history, release, name, version)
                yield name, version, kind, history.unstable_since(name, version), history.kips_of(name, version)


def _kind(history: Any, release: str, name: str, version: int) -> str:
    if history.since(name, version) != release:
        return "restored"
    if release == history.RELEASES[0] or history.is_older(name, version):
        return "first definition"
    return "new message" if history.since(name) == release else "new version"


def _release(history: Any, release: str, out: Output) -> None:
    found = list(changes(history, release))
    if out.is_json:
        for name, version, kind, unstable, kips in found:
            names = {"release": release, "message": name, "version": version}
            out.record(names | {"change": kind, "unstable_since": unstable, "kips": list(kips)})
    elif not found:
        out.line(f"Kafka {release} added and dropped no message versions")
    else:
        rows = []
        for (name, kind, unstable, kips), group in groupby(found, key=lambda each: (each[0], *each[2:])):
            versions = version_ranges([version for _, version, *_ in group])
            change = kind if unstable is None else f"{kind}, unstable since {unstable}"
            rows.append((name, versions, change, ", ".join(f"KIP-{kip}" for kip in kips)))
        out.table(("message", "versions", f"in Kafka {release}", "KIPs"), rows)


def _kip(history: Any, kip: int, out: Output) -> None:
    found = history.versions_with_kip(kip)
    if not found:
        raise NotFoundError(f"Kafka's definitions name KIP-{kip} for no message version")
    ask = (history.since, history.unstable_since, history.until)
    rows = [(name, each, *(about(name, each) for about in ask)) for name in found for each in found[name]]
    if out.is_json:
        note(f"incomplete: Kafka's definitions name KIPs for few versions; KIP-{kip} may have added others")
        for row in rows:
            out.record(
                {"kip": kip} | dict(zip(("message", "version", "since", "unstable_since", "until"), row, strict=True))
            )
    else:
        out.table(("message", "version", "since", "unstable since", "until"), rows)
        out.wrapped(f"Incomplete: Kafka's definitions name KIPs for few versions; KIP-{kip} may have added others.", "")
