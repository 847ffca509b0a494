"""Subcommand ``apis``: table of APIs."""

from __future__ import annotations

from ...text import suggestion
from .._errors import NotFoundError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from ...package import Package
    from .._output import Output

EXAMPLES = ("apis", "apis 18", "apis group")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("pattern", nargs="?", help="a key, or part of a name")


def run(given: Namespace, out: Output, package: Package) -> int:
    word, apis = given.pattern or "", package.module("protocol").apis()
    pattern = word.lower()
    found = [
        each
        for each in apis
        if pattern == str(int(each.key)) or (pattern in each.name.lower() and not pattern.isdigit())
    ]
    if not found:
        names = [each.name for each in apis]
        raise NotFoundError(f"unknown API {word!r}{suggestion(word, names)}")
    if out.is_json:
        for each in found:
            supported, valid = each.supported_versions, each.valid_versions
            out.record(
                {
                    "key": int(each.key),
                    "api": each.name,
                    "lowest_version": supported.lowest if supported else None,
                    "highest_version": supported.highest if supported else None,
                    "lowest_readable_version": valid.lowest if valid else None,
                    "latest_version_unstable": each.latest_version_unstable,
                    "listeners": list(each.listeners),
                    "request_headers": _headers(each.request_headers),
                    "response_headers": _headers(each.response_headers),
                }
            )
    else:
        head = ("key", "API", "versions", "request header", "response header", "listeners")
        out.table(head, [_row(each) for each in found])
    return 0


def _row(each: Any) -> tuple[object, ...]:
    supported = each.supported_versions
    versions = str(supported).partition(" ")[2].replace(" to ", "-") if supported else "removed"
    if each.latest_version_unstable and supported:
        versions += " (latest unstable)"
    headers = (_shown(each.request_headers), _shown(each.response_headers))
    return int(each.key), each.name, versions, *headers, ", ".join(each.listeners)


def _headers(runs: tuple[tuple[int, int], ...]) -> list[dict[str, int]]:
    return [{"from_version": first, "header_version": header} for first, header in runs]


def _shown(runs: tuple[tuple[int, int], ...]) -> str:
    return ", ".join(
        f"{header} from version {first}" if number else str(header) for number, (first, header) in enumerate(runs)
    )
