"""Subcommand ``capture``: exchanges or clients in captured traffic."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import BufferedReader, RawIOBase
from itertools import chain, islice

from ... import capture
from ...text import counted
from .._capture_report import client_lines, is_partial, report_lines
from .._errors import InputError, UsageError
from .._output import Output, ProgressBar, note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ...package import Package

EXAMPLES = (
    "capture traffic.pcapng",
    "capture traffic.pcap --clients",
    "capture traffic.pcap --html page.html",
    "capture - --api Fetch --errors --json",
)


def add_arguments(parser: ArgumentParser) -> None:
    from .._arguments import number, one_of

    about = "pcap or pcapng, also gzipped, or the text of 'Follow TCP Stream'; - for standard input"
    parser.add_argument("file", help=about)
    about = "API versions that each client uses, and Kafka releases that lack some of these versions"
    parser.add_argument("--clients", action="store_true", help=about)
    parser.add_argument("--explain", metavar="N", type=number, help="explain every byte of exchange N")
    about = "write a page with the exchanges and all their bytes; the values of records are redacted"
    parser.add_argument("--html", metavar="PAGE", help=about)
    parser.add_argument("--values", action="store_true", help="with --html: also keys, values and headers of records")
    about = "only these APIs, by name or key, comma-separated; may be repeated"
    parser.add_argument("--api", metavar="API", action="append", default=[], help=about)
    about = "only this client id; may be repeated"
    parser.add_argument("--client", metavar="ID", action="append", default=[], help=about)
    parser.add_argument("--errors", action="store_true", help="only responses with an error code other than 0")
    about = "only these errors, by name or code, comma-separated; may be repeated"
    parser.add_argument("--error", metavar="ERROR", action="append", default=[], help=about)
    about = "ports of brokers, comma-separated; may be repeated; by default, connections are detected"
    parser.add_argument("--port", metavar="PORT", action="append", default=[], help=about)
    about = "data: records as base64 (default); size: only the size of records"
    parser.add_argument("--records", metavar="HOW", default="data", help=about, **one_of(("data", "size")))
    about = "exit with 1 if data is missing, unreadable or encrypted"
    parser.add_argument("--strict", action="store_true", help=about)


def run(given: Namespace, out: Output, package: Package) -> int:
    """Print exchanges or clients. With ``--strict``, return 1 if data is missing, unreadable or encrypted."""
    choice = _exchange_filter(given, package)
    if given.html is not None and (given.clients or given.explain is not None or out.is_json):
        raise UsageError("--html excludes --clients, --explain and --json")
    if given.values and given.html is None:
        raise UsageError("--values needs --html")
    name = given.file
    if given.html is not None:
        _check_page(given.html, name)
    if name == "-" and sys.stdin is None:
        raise UsageError("standard input is closed; give a file name")
    ports = [_port(text) for text in _listed(given.port)]
    size = 0 if name == "-" else os.stat(name).st_size
    with out.progress("bytes", size) as progress, BufferedReader(_Watched(name, progress)) as file:
        opened = _opened(file, ports, package)
        found = _started(opened)
        found = filter(_wanted(given, choice), _counted(found, opened.report) if given.strict else found)
        if given.clients:
            _clients(found, out, package)
        elif given.explain is not None:
            _explain(found, given.explain, out, package)
        elif given.html is not None:
            _page(found, given, out)
        else:
            _list(found, given.records, out)
        progress.clear()
        for line in report_lines(opened.report):
            sys.stderr.write(f"{line}\n")
        return int(given.strict and is_partial(opened.report))


def _check_page(place: str, name: str) -> None:
    if place == "-":
        raise UsageError("--html needs a file name; standard output is for text and JSON")
    if os.path.exists(place) and name != "-" and os.path.samefile(place, name):
        raise UsageError(f"--html {place} is the capture itself")


def _opened(file: BufferedReader[_Watched], ports: list[int], package: Package) -> capture.Capture:
    try:
        return capture.Capture(file, ports, package.name)
    except capture.CaptureError as error:
        raise InputError(str(error)) from None


def _started(opened: capture.Capture) -> Iterator[Any]:
    found = opened.events()
    try:
        first = list(islice(found, 1))
    except capture.CaptureError as error:  # a gzip file that is no capture
        raise InputError(str(error)) from None
    return chain(first, found)


def _wanted(given: Namespace, choice: capture.ExchangeFilter) -> Callable[[Any], bool]:
    """Return the filter of exchanges, and of connections that the server closed if everything is listed."""
    is_all = choice == capture.ExchangeFilter() and not given.clients and given.explain is None

    def is_wanted(each: capture.Exchange | capture.End) -> bool:
        if isinstance(each, capture.End):
            return is_all and each.closed_by == each.connection.server
        return choice.fits(each)

    return is_wanted


def _counted(found: Iterator[Any], report: capture.CaptureReport) -> Iterator[Any]:
    """Yield the exchanges and ends of connections, and count undecodable messages in the report."""
    for each in found:
        for side in ("request", "response"):
            if getattr(each, f"{side}_frame", None) is not None and getattr(each, f"{side}_problem"):
                report.count("messages not decoded")
        yield each


def _exchange_filter(given: Namespace, package: Package) -> capture.ExchangeFilter:
    has_errors = given.errors or given.error
    try:
        return capture.ExchangeFilter(
            capture.api_keys(_listed(given.api), package.name),
            frozenset(given.client),
            capture.error_codes(_listed(given.error), package.name) if has_errors else None,
        )
    except ValueError as error:
        raise UsageError(str(error)) from None


def _listed(texts: list[str]) -> list[str]:
    return [each.strip() for text in texts for each in text.split(",")]


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 0 < int(text) < 65536):
        raise UsageError(f"--port {text} is not a number from 1 to 65535")
    return int(text)


def _list(found: Iterable[Any], records: Any, out: Output) -> None:
    if not out.is_json:
        out.line(out.styled(capture.to_head(out.row_width), "dim"))
    for each in found:
        if out.is_json:
            out.record(capture.to_object(each, show_secrets=out.show_secrets, records=records))
        else:
            out.line(capture.to_line(each, out.row_width))


def _explain(found: Iterable[Any], number: int, out: Output, package: Package) -> None:
    chosen = next((exchange for exchange in found if exchange.number == number), None)
    if chosen is None:
        raise UsageError(f"exchange {number} not found in the capture, or excluded by other options")
    if not out.is_json:
        out.line(capture.to_line(chosen, out.row_width))
    for name, frame, explained in _explained(chosen, package):
        if explained is None:
            note(f"the {name} is not explained: {getattr(chosen, f'{name}_problem') or 'it is a SASL token'}")
        elif out.is_json:
            for row in explained.rows(show_secrets=out.show_secrets):
                out.record({"side": name, **row})
        else:
            out.line()
            out.line(out.styled(f"{name}, {counted(frame.size, 'byte')}, from {frame.source}", "title"))
            text = explained.text(width=out.width, color=out.has_color, show_secrets=out.show_secrets)
            out.line(text.rstrip("\n"))


def _explained(exchange: Any, package: Package) -> Iterator[tuple[str, Any, Any]]:
    explain = package.module("explain")
    api = exchange.api
    known = None if api is None or not api.valid_versions else api
    if exchange.request_frame is not None:
        data = exchange.request_frame.data
        yield "request", exchange.request_frame, None if known is None else explain.explain_request(data)
    if exchange.response_frame is not None:
        explained = None
        if known is not None:
            with suppress(package.root.KafkaMessageError):  # unknown version
                explained = explain.explain_response(
                    exchange.response_frame.data, int(known.key), exchange.header.request_api_version
                )
        yield "response", exchange.response_frame, explained


def _page(found: Iterable[Any], given: Namespace, out: Output) -> None:
    from kafka_records.files import replace_file

    from ...conversation import page

    name = "standard input" if given.file == "-" else os.path.basename(given.file)
    html = page(found, title=name, show_secrets=out.show_secrets, show_values=given.values)
    replace_file(given.html, [html.encode(errors="backslashreplace")])


def _clients(found: Iterable[Any], out: Output, package: Package) -> None:
    clients = capture.Clients(show_secrets=out.show_secrets, package=package.name)
    for exchange in found:
        clients.add(exchange)
    if out.is_json:
        for client in clients:
            out.record(client.to_object())
    else:
        for line in client_lines(clients):
            out.wrapped(line, "        ")


class _Watched(RawIOBase):

    def __init__(self, name: str, progress: ProgressBar) -> None:
        self._file: Any = sys.stdin.buffer if name == "-" else open(name, "rb")  # noqa: SIM115  # closed by close()
        self._progress = progress

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # BufferedReader passes a memoryview
        size: int = self._file.readinto1(buffer)
        self._progress.step(size)
        return size

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()
