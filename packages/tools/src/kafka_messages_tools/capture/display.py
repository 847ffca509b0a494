"""Exchanges as JSON objects and lines of text, with secrets redacted."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

from ..text import counted, safe, wrapped
from .errors import errors_in
from .framing import Frame
from .matching import Exchange
from .reassembly import End

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kafka_messages import Message

    from ..package import Package

Records = Literal["data", "size", "empty"]


def to_object(exchange: Exchange | End, *, show_secrets: bool = False, records: Records = "data") -> dict[str, object]:
    """Return an exchange, or a connection that the server closed, as a value for ``json.dumps``.

    Messages are in Kafka's JSON form.
    Unless ``show_secrets``, secrets are redacted, and so are undecoded bytes that may contain them. ``records`` is
    passed to ``kafka_messages.json.to_json``.
    """
    if isinstance(exchange, End):
        return _closed(exchange)
    header, redacts = exchange.header, not show_secrets
    entry: dict[str, object] = {
        "number": exchange.number,
        "connection": exchange.connection.number,
        "client": str(exchange.client),
        "server": str(exchange.server),
    }
    if header is not None:
        entry |= {
            "api": None if exchange.api is None else exchange.api.name,
            "api_key": header.request_api_key,
            "api_version": header.request_api_version,
            "correlation_id": header.correlation_id,
        }
        if not exchange.is_client_unknown:
            entry["client_id"] = client_id_of(exchange, redacts)
        if exchange.identity is not None and exchange.identity.client_instance_id is not None:
            entry["client_instance_id"] = exchange.package.module("json").uuid_text(
                exchange.identity.client_instance_id
            )
    elif exchange.is_token:
        entry["sasl_token"] = True
    if exchange.request_frame is not None:
        entry["request"] = _request(exchange, exchange.request_frame, redacts, records)
    if exchange.response_frame is not None:
        entry["response"] = _response(exchange, exchange.response_frame, redacts, records)
    elif exchange.has_no_response:
        entry["no_response"] = True
    elif exchange.not_captured:
        entry["not_captured"] = exchange.not_captured
    elif exchange.closed_by:
        entry |= {"closed_by": exchange.closed_by} | ({"unsupported": why} if (why := exchange.unsupported) else {})
    if exchange.response is not None:
        found = errors_in(exchange.response.message, exchange.package)
        entry["errors"] = [{"path": each.path, "code": each.code, "name": each.name} for each in found]
    if exchange.latency_ns is not None:
        entry["latency_ms"] = exchange.latency_ns / 1e6
    return entry


def _closed(end: End) -> dict[str, object]:
    connection = end.connection
    where = {"connection": connection.number, "client": str(connection.client), "server": str(connection.server)}
    where |= {} if end.time_ns is None else {"time": time_text(end.time_ns)}
    return (
        where | {"closed_by": "server", "packet": end.packet} | ({"not_captured": end.missing} if end.missing else {})
    )


def client_id_of(exchange: Exchange, redacts: bool) -> str | None:
    """Return the client id; if ``redacts``, redact unprintable ids of undecodable exchanges that may hold secrets."""
    client = exchange.client_id
    is_odd = client is not None and not client.isprintable() and exchange.request is None
    return _redacted(exchange) if redacts and is_odd and _may_hold_secrets(exchange) else client


def _redacted(exchange: Exchange) -> str:
    text: str = exchange.package.module("secrets").REDACTED
    return text


def _request(exchange: Exchange, frame: Frame, redacts: bool, records: Records) -> dict[str, object]:
    request = exchange.request
    if request is None:
        return _framed(frame) | _undecoded(exchange, frame, exchange.request_problem, redacts)
    entry = _framed(frame) | _body(exchange.package, request.message, request.version, redacts, records)
    if request.trailing:
        entry["trailing"] = _redacted(exchange) if redacts and _may_hold_secrets(exchange) else request.trailing.hex()
    return entry


def _response(exchange: Exchange, frame: Frame, redacts: bool, records: Records) -> dict[str, object]:
    response = exchange.response
    if response is None:
        return _framed(frame) | _undecoded(exchange, frame, exchange.response_problem, redacts)
    return (
        _framed(frame)
        | {"version": response.version}
        | _body(exchange.package, response.message, response.version, redacts, records)
    )


def _framed(frame: Frame) -> dict[str, Any]:
    entry: dict[str, Any] = {"packet": frame.packet, "first_packet": frame.first_packet}
    if frame.time_ns is not None:
        entry["time"] = time_text(frame.time_ns)
    return entry | {"offset": frame.offset, "size": frame.size}


def _body(package: Package, message: Message, version: int, redacts: bool, records: Records) -> dict[str, object]:
    secrets = package.module("secrets")
    message = secrets.redacted(message) if redacts else message
    try:
        body = package.module("json").to_json(message, version, records=records, unknown_tagged_fields=True)
        return {"body": secrets.redacted_json(body) if redacts else body}
    except package.root.EncodeError as error:  # a decoded message that cannot be encoded
        return {"problem": str(error)}


def _may_hold_secrets(exchange: Exchange) -> bool:
    api = exchange.api  # None for a SASL token
    if api is None or not api.valid_versions:
        return True
    classes = [api.request_class, *([api.response_class] if api.response_name else ())]
    return any(map(exchange.package.module("secrets").has_secrets, classes))


def _response_name(exchange: Exchange) -> str:
    return "" if exchange.api is None else exchange.api.response_name


def _undecoded(exchange: Exchange, frame: Frame, problem: str, redacts: bool) -> dict[str, object]:
    entry: dict[str, object] = {"problem": problem} if problem else {}
    secrets = exchange.package.module("secrets")
    is_secret = _may_hold_secrets(exchange) or secrets.may_hold_metadata(_response_name(exchange), frame.data)
    entry["data"] = _redacted(exchange) if redacts and is_secret else frame.data.hex()
    return entry | ({"missing": frame.missing} if frame.missing else {})


def time_text(time_ns: int) -> str:
    """Format a time as ISO 8601 (UTC) with nanoseconds, or as a number if out of range."""
    seconds, fraction = divmod(time_ns, 1_000_000_000)
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{fraction:09}Z"
    except (ValueError, OverflowError, OSError):
        return f"{time_ns} ns"


# Column widths in wide, medium and narrow output.
_WIDE = {"number": 7, "time": 15, "conn": 4, "API": 32, "client": 20, "packets": 15, "bytes": 15, "ms": 9}
_MEDIUM = {"number": 6, "time": 12, "conn": 4, "API": 26, "client": 12, "packets": 12, "bytes": 12, "ms": 8}
_NARROW = {"number": 6, "time": 12, "conn": 4, "API": 24, "client": 12, "ms": 8}
_LEFT = ("time", "API", "client")
_BELOW = " " * 8


def to_head(width: int | None = None) -> str:
    """Return the column headings for ``to_line``."""
    widths = _widths(width)
    return f"{_aligned({name: name for name in widths}, widths)}  result"


def to_line(exchange: Exchange | End, width: int | None = None) -> str:
    """Format an exchange, or a connection that the server closed, as a line of text.

    A small ``width`` drops columns, shortens client ids and moves a long result to separate lines.
    """
    widths = _widths(width)
    if isinstance(exchange, End):
        cells = {"time": _time(exchange.time_ns, widths), "conn": str(exchange.connection.number)}
        cells |= {"packets": str(exchange.packet)}
        what = "the server closed the connection"
        if exchange.missing:
            what = f"closed by the server; {counted(exchange.missing, 'byte')} before were not captured"
        return _line(dict.fromkeys(widths, "") | cells, what, widths, width)
    first = exchange.request_frame or exchange.response_frame
    assert first is not None
    frames = (exchange.request_frame, exchange.response_frame)
    client = "?" if exchange.is_client_unknown else safe(client_id_of(exchange, redacts=True) or "-")
    cells = {
        "number": str(exchange.number),
        "time": _time(first.time_ns, widths),
        "conn": str(exchange.connection.number),
        "API": name_of(exchange),
        "client": client if width is None or len(client) <= widths["client"] else f"{client[: widths['client'] - 1]}…",
        "packets": "→".join("" if each is None else str(each.packet) for each in frames),
        "bytes": "→".join("" if each is None else str(each.size) for each in frames),
        "ms": "" if exchange.latency_ns is None else f"{exchange.latency_ns / 1e6:.3f}",
    }
    return _line(cells, result_of(exchange), widths, width)


def _time(time_ns: int | None, widths: dict[str, int]) -> str:
    return "" if time_ns is None else time_text(time_ns)[11 : 11 + widths["time"]]


def _line(cells: dict[str, str], result: str, widths: dict[str, int], width: int | None) -> str:
    line = _aligned(cells, widths)
    if width is None or len(line) + 2 + len(result) <= width:
        return f"{line}  {result}"
    return "\n".join([line.rstrip(), *(_BELOW + each for each in wrapped(result, width - len(_BELOW)))])


def _widths(width: int | None) -> dict[str, int]:
    if width is None:
        return _WIDE
    if width >= 147:
        return _WIDE | {"client": _WIDE["client"] + max(width - 180, 0)}
    return _MEDIUM if width >= 120 else _NARROW


def _aligned(cells: dict[str, str], widths: dict[str, int]) -> str:
    line, stop = "", -1
    for name, width in widths.items():
        stop += width + (2 if name == "API" else 1)
        if name in _LEFT:
            line = f"{line:<{stop - width - 1}} {cells[name]}"
        else:
            line += f"{' ' if line else ''}{cells[name]}".rjust(stop - len(line))
    return line


def name_of(exchange: Exchange) -> str:
    if exchange.is_token:
        return "SASL token"
    if exchange.header is None:
        return "?"
    api = exchange.api
    return f"{api.name if api else f'API {exchange.header.request_api_key}'} v{exchange.header.request_api_version}"


def result_of(exchange: Exchange) -> str:
    problems = []
    if exchange.request_problem:
        problems.append(f"request: {exchange.request_problem}")
    if exchange.has_no_response:
        problems.append("no response is sent")
    elif exchange.response_problem:
        problems.append(f"response: {exchange.response_problem}")
    if exchange.unsupported:
        problems.append(f"{name_of(exchange)} is unsupported: {exchange.unsupported}")
    if exchange.response is not None:
        names = dict.fromkeys(
            f"{error.name} ({error.code})" if error.name == "UNKNOWN" else error.name
            for error in errors_in(exchange.response.message, exchange.package)
        )
        problems += names or ["ok"]
    return safe("; ".join(problems))
