"""The command ``compat``: reports incompatible changes of definitions, with example bytes."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from kafka_message_generator.compat import formats, impact_texts
from kafka_message_generator.compat.definition_sets import Baseline, DefinitionSet
from kafka_message_generator.compat.findings import LEVELS, RULES
from kafka_message_generator.compat.history_page import impact_page, page
from kafka_message_generator.compat.impact import impact
from kafka_message_generator.compat.inputs import (
    HISTORY,
    KINDS,
    SPECS,
    CompatInputError,
    ReadFolder,
    placed,
    sets_of_words,
)
from kafka_message_generator.compat.report import CompatReport, compare
from kafka_message_generator.compat.store import HistoryError
from kafka_message_generator.compat.waivers import WaiverError, read_waivers, waived
from kafka_message_generator.files import replace_file
from kafka_message_generator.spec.source import SpecError, tell

EXAMPLE = "kafka-message-generator compat --old git:main --new specs/kafka"
COMPATIBLE, FINDINGS, NOT_COMPARED = 0, 1, 3
ABOUT = (
    "Compare every released message version of two sets of definitions. The report proves that both sets read the same "
    "bytes, or shows the difference, the direction that fails, and example bytes. The exit code is 0 if no finding "
    "counts at the level, 1 if one does, 2 for wrong arguments, and 3 if nothing could be compared."
)


def add_arguments(parser: argparse.ArgumentParser, read_folder: ReadFolder) -> None:
    parser.add_argument("--old", default=HISTORY, metavar="WHAT", help=f"{KINDS} (default: %(default)s)")
    parser.add_argument("--new", default=SPECS, metavar="WHAT", help="as --old, except history (default: %(default)s)")
    parser.add_argument(
        "--history", type=Path, default=Path("specs/history"), metavar="FOLDER", help="default: %(default)s"
    )
    what = f"last level that counts, of {', '.join(LEVELS)}; it includes all levels before it (default: %(default)s)"
    parser.add_argument("--level", choices=LEVELS, default="api", metavar="LEVEL", help=what)
    names = ", ".join(formats.FORMATS)
    parser.add_argument(
        "--format", choices=formats.FORMATS, default="text", metavar="NAME", help=f"{names} (default: text)"
    )
    parser.add_argument("--waivers", type=Path, metavar="FILE", help="accepted differences, as TOML")
    parser.add_argument("--list-rules", action="store_true", help="print every rule with its level, reason and source")
    what = "instead: write a page about wire differences between consecutive releases"
    parser.add_argument("--past", type=Path, metavar="FILE", help=what)
    what = "instead: report what breaks in clients, proxies and log readers of the old side (with --past: of older releases)"
    parser.add_argument("--impact", action="store_true", help=what)
    parser.add_argument("--html", type=Path, metavar="FILE", help="with --impact: also write the report as HTML")
    what = "repository of the Git revisions (default: the one with the folder to compare)"
    parser.add_argument("--repository", type=Path, metavar="PATH", help=what)
    parser.set_defaults(run=partial(run, read_folder))


def run(read_folder: ReadFolder, arguments: argparse.Namespace) -> int:
    if arguments.list_rules:
        tell(rules_text(), lines=True, end="")
        return COMPATIBLE
    try:
        if arguments.past is not None:
            past = impact_page if arguments.impact else page
            replace_file(arguments.past, [past(arguments.history).encode()])
            return COMPATIBLE
        if arguments.html is not None and not arguments.impact:
            raise CompatInputError("--html: only the report of --impact is printed as HTML; add --impact")
        if arguments.impact and (arguments.format != "text" or arguments.waivers is not None):
            raise CompatInputError("--impact: has no other format and no waivers; for a page, add --html FILE")
        if arguments.impact:
            return _impact(read_folder, arguments)
        report = _report(read_folder, arguments)
        is_found = bool(report.counting(arguments.level))
        if not is_found and not report.is_compared:
            raise CompatInputError(f"{report.new} and {report.old} have no released message version in common")
    except (CompatInputError, HistoryError, SpecError, WaiverError, OSError) as error:
        tell(f"{error}\nnothing was compared", sys.stderr, lines=True)
        return NOT_COMPARED
    tell(formats.FORMATS[arguments.format](report, arguments.level), lines=True, end="")
    return FINDINGS if is_found else COMPATIBLE


def _impact(read_folder: ReadFolder, arguments: argparse.Namespace) -> int:
    report = impact(*_sets(read_folder, arguments))
    if arguments.html is not None:
        replace_file(arguments.html, [impact_texts.as_html(report).encode()])
    tell(impact_texts.as_text(report), lines=True, end="")
    return COMPATIBLE


def _sets(read_folder: ReadFolder, arguments: argparse.Namespace) -> tuple[Baseline, DefinitionSet]:
    return sets_of_words(arguments.old, arguments.new, arguments.history, read_folder, arguments.repository)


def _report(read_folder: ReadFolder, arguments: argparse.Namespace) -> CompatReport:
    old, new = _sets(read_folder, arguments)
    report = placed(compare(old, new), *old.sets, new)
    if arguments.waivers is None:
        return report
    report, warnings = waived(report, read_waivers(arguments.waivers), arguments.waivers)
    for warning in warnings:
        tell(warning, sys.stderr, lines=True)
    return report


def rules_text() -> str:
    return "\n".join(
        f"{rule.name}  [{rule.level}]\n  {rule.finds}\n  {rule.reason}\n  source: {rule.source}\n"
        for rule in RULES.values()
    )
