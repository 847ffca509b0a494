"""The command ``kafka-conformance``."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NoReturn, TypeVar

from kafka_records.files import replace_file

from kafka_messages_tools.text import safe

from .broker_case import Access, broker_cases
from .broker_run import run_broker
from .case import Case, CaseError, selected
from .client_case import ClientCase, client_cases
from .client_run import run_client
from .cluster import Address, BrokerError
from .codec_case import CodecCase, codec_cases
from .codec_run import run_codec
from .known import known_failures, mark_known
from .pipe import ProgramError
from .result import Report, ReportError, load
from .text import save_junit, to_text

C = TypeVar("C", bound=Case)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 1 if a case failed, 2 for errors of use, or 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # a CI server ends a run as Ctrl-C does
    try:
        status: int = options.run(options)
        return status
    except BrokenPipeError:  # of a pager that has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ProgramError, BrokerError, CaseError, ReportError, OSError) as error:
        print(f"kafka-conformance: {safe(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # the modes have cleaned up
        print("kafka-conformance: interrupted", file=sys.stderr)
        return 130
    finally:
        signal.signal(signal.SIGTERM, before)


class _CommandParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        super().error(safe(message))


def _parser() -> argparse.ArgumentParser:
    parser = _CommandParser(
        prog="kafka-conformance",
        description="Check codecs, brokers and clients of Kafka's protocol with numbered cases.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    listing = commands.add_parser("list", help="list the cases")
    listing.add_argument("pattern", nargs="*", metavar="ID", help="ids; * stands for any text")
    listing.set_defaults(run=_list)
    show = commands.add_parser("show", help="explain a case")
    show.add_argument("id", metavar="ID")
    show.set_defaults(run=_show)
    codec = commands.add_parser("codec", help="test a codec, driven over a pipe")
    codec.add_argument("command", nargs="+", metavar="COMMAND", help="program that answers the requests, after --")
    codec.add_argument("--timeout", type=_seconds, default=10, help="seconds for an answer (default: %(default)g)")
    _add_common(codec)
    codec.set_defaults(run=_codec)
    broker = commands.add_parser("broker", help="test a broker")
    broker.add_argument(
        "address", type=_address, metavar="HOST:PORT", help="address of one broker, without TLS and SASL"
    )
    limits = broker.add_mutually_exclusive_group()
    limits.add_argument("--disposable", action="store_true", help="send also requests that change the whole cluster")
    limits.add_argument("--read-only", action="store_true", help="create no topics, groups or transactional ids")
    addresses = broker.add_argument("--expect-address", action="append", default=[], type=_address, metavar="HOST:PORT")
    addresses.help = "fail if a response has an address that is not given; repeat it for each broker"
    broker.add_argument("--name", default="", help="name of the broker in reports (default: its address)")
    broker.add_argument("--timeout", type=_seconds, default=10, help="seconds for a response (default: %(default)g)")
    _add_common(broker)
    broker.set_defaults(run=_broker)
    client = commands.add_parser("client", help="test a client: a command that is called with a task and an address")
    client.add_argument("command", nargs="+", metavar="COMMAND", help="program that does a task, after --")
    client.add_argument("--timeout", type=_seconds, default=30, help="seconds for a case (default: %(default)g)")
    client.add_argument("--name", default="", help="name of the client in reports (default: that of the program)")
    _add_common(client)
    client.set_defaults(run=_client)
    report = commands.add_parser("report", help="make an HTML page of reports")
    report.add_argument("files", nargs="+", metavar="FILE", help="reports that --json wrote")
    report.add_argument("--html", required=True, metavar="FILE", help="page to write")
    report.set_defaults(run=_report)
    return parser


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="run these cases; * is any text")
    parser.add_argument("--known-failures", metavar="FILE", help="ids of cases that may fail, one per line")
    parser.add_argument("--json", metavar="FILE", help="write the report, for kafka-conformance report")
    parser.add_argument("--junit", metavar="FILE", help="write the report as JUnit's XML")


def _seconds(text: str) -> float:
    if not 0 < (seconds := float(text)) <= 86_400:
        raise argparse.ArgumentTypeError(f"expected seconds above 0, at most 86,400, got {text}")
    return seconds


def _cases() -> list[Case]:
    return [*codec_cases(), *broker_cases(), *client_cases()]


def _list(options: argparse.Namespace) -> int:
    found = selected(_cases(), options.pattern)
    for case in found:
        print(f"{case.id:50} {case.mode:7} {case.rule}")
    print(f"{len(found):,} cases", file=sys.stderr)
    return 0


def _show(options: argparse.Namespace) -> int:
    for case in selected(_cases(), [options.id]):
        print("\n".join([case.id, *case.description()]))
    return 0


def _codec(options: argparse.Namespace) -> int:
    def run(cases: list[CodecCase]) -> Report:
        return asyncio.run(run_codec(options.command, cases, options.timeout))

    return _checked(options, codec_cases(), run)


def _broker(options: argparse.Namespace) -> int:
    access: Access = "cluster" if options.disposable else "read" if options.read_only else "own"
    more = {"access": access, "expected": options.expect_address, "timeout": options.timeout, "name": options.name}
    return _checked(options, broker_cases(), lambda cases: run_broker(options.address, cases, **more))


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"expected HOST:PORT, got {text!r}")
    return host.strip("[]"), int(port)


def _client(options: argparse.Namespace) -> int:
    def run(cases: list[ClientCase]) -> Report:
        return run_client(options.command, cases, options.timeout, options.name)

    return _checked(options, client_cases(), run)


def _report(options: argparse.Namespace) -> int:
    from .html import to_html

    page = to_html([load(path) for path in options.files])
    replace_file(options.html, [page.encode()])
    return 0


def _checked(options: argparse.Namespace, cases: Iterable[C], run: Callable[[list[C]], Report]) -> int:
    """Run the selected cases, print and write the report; return the exit status. Files are looked at first."""
    every = list(cases)
    chosen = selected(every, options.only)
    known = known_failures(options.known_failures) if options.known_failures else []
    for path in map(Path, filter(None, (options.json, options.junit))):
        place = path if path.exists() else path.resolve().parent
        if path.is_dir() or not os.access(place, os.W_OK):
            path.open("ab").close()  # raises OSError
    report = run(chosen)
    report.notes = list(map(safe, report.notes))
    mark_known(report, known, [case.id for case in every])
    print(to_text(report))
    if options.json:
        report.save(options.json)
    if options.junit:
        save_junit(report, options.junit)
    return 1 if report.failures else 0
