"""Clients and reports as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..capture.client_report import Client, api_name
from ..packets.report import CaptureReport
from ..text import counted, safe

# Counters of messages without a counterpart or that do not decode.
_PARTIAL = ("messages not decoded", "requests without response", "responses without request")


def is_partial(report: CaptureReport) -> bool:
    """Check a report for missing data, unreadable data, or connections encrypted by TLS."""
    counts = report.counts
    is_hidden = any(count and ("TLS" in what or "PROXY" in what) for what, count in counts.items())
    return bool(report.unread > 0 or report.remarks or is_hidden or any(counts[what] for what in _PARTIAL))


def report_lines(report: CaptureReport) -> Iterator[str]:
    """Yield the counters in one line, then the remarks."""
    counts = (f"{count} {_words(what, count)}" for what, count in report.counts.items() if count)
    yield "; ".join(counts) or "the capture is empty"
    yield from map(safe, report.remarks)
    if report.more_remarks:
        yield f"and {counted(report.more_remarks, 'more remark')}"


def _words(what: str, count: int) -> str:
    noun, _, rest = what.partition(" ")
    if count != 1 or not noun.endswith("s"):
        return what
    return f"{noun[:-1]} {rest}".rstrip().replace(" their ", " its ").replace(" go on ", " goes on ")


def client_lines(clients: Iterable[Client]) -> Iterator[str]:
    """Yield the lines for each client: its API versions, and the Kafka releases that lack some of these versions."""
    for client in clients:
        absent = "(unknown client)" if client.is_unknown else "(no client id)"
        name = absent if client.client_id is None else safe(client.client_id) or "(empty client id)"
        software = " ".join(filter(None, (client.software_name, client.software_version))) or "unknown software"
        yield (
            f"{name}: {safe(software)}, at {', '.join(sorted(client.hosts))}; "
            f"{counted(len(client.connections), 'connection')}, {counted(sum(client.versions.values()), 'request')}, "
            f"{counted(client.errors, 'response')} with errors"
        )
        versions: dict[int, list[str]] = {}
        for (key, version), count in sorted(client.versions.items()):
            versions.setdefault(key, []).append(f"v{version} ({count})")
        for key, texts in versions.items():
            yield f"    {api_name(client.package, key)}: {', '.join(texts)}"
        for key, version, why in client.lacking:
            yield f"    LACKING {api_name(client.package, key)} v{version}: {why}"
        for key, version, release in client.failing:
            yield f"    would fail on Kafka {release} and later: {api_name(client.package, key)} v{version}"
        for key, version, releases in client.gaps:
            yield f"    would fail on Kafka {', '.join(releases)}: {api_name(client.package, key)} v{version}"
        if client.releases is not None:
            yield f"    {_releases(client)}"


def _releases(client: Client) -> str:
    found = client.releases
    if not found:
        return "no Kafka release supports all these versions"
    missing = sorted({release for _, _, releases in client.gaps for release in releases})
    words = f"Kafka {found[0]} supports" if len(found) == 1 else f"Kafka {found[0]} to {found[-1]} support"
    exceptions = f", except {', '.join(missing)}" if missing else ""
    words += " all other versions" if client.unreleased else f" all these versions{exceptions}"
    needing = (each for each in client.needing if each[2] == found[0])
    newest = [f"{api_name(client.package, key)} v{version}" for key, version, _ in needing]
    return f"{words}; older releases lack {', '.join(newest)}" if newest else words
