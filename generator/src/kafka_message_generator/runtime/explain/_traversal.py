"""Explanation of messages, requests and responses with headers, and internal log records with prefixes."""

from __future__ import annotations

from .._base.message import Message, check_class, class_of, unsupported
from .._core.optional import module
from .._core.structs import name_of
from .._core.wire import as_bytes
from ..errors import DecodeError, KafkaMessageError, UnsupportedVersionError
from ..schema.build import schemas_of
from ..schema.contents import VERSIONED
from ..schema.descriptors import descriptor_of
from ..schema.schema import Schema
from ..schema.spans import FAULT, LENGTH, REST, STRUCT, Span, SpanBudget, SpanTraversal
from ..schema.struct import Field
from ..schema.types import INT16, INT32, UNSIGNED_VARINT, SchemaError, Type
from ..secrets._detection import may_be_token, may_hold_metadata
from ..secrets._rule import has_secrets, may_have_secrets
from ._explanation import Explanation
from ._nested import open_fields, rest_note
from ._notes import annotate
from ._secrets import mark, redact, redact_header, redact_uncertain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._core.wire import BytesLike

# Fields at the start of every request header.
_CERTAIN = Schema(Field("request_api_key", INT16), Field("request_api_version", INT16), Field("correlation_id", INT32))
_UNSUPPORTED_VERSION = (35).to_bytes(2, "big")


def explain(
    data: BytesLike, message: type[Message], version: int, *, records: bool = False, limit: int | None = None
) -> Explanation:
    """Explain the bytes of exactly one message body.

    ``records`` also decodes record batches with `kafka_records`. ``limit`` is the maximum number of leaves (default
    about a million). For damaged bytes ``Explanation.error`` is the DecodeError. Raises UnsupportedVersionError and
    TypeError.
    """
    return _Explainer(as_bytes(data), records, SpanBudget(limit)).alone(message, version)


def explain_request(
    data: BytesLike, *, framed: bool = False, records: bool = False, limit: int | None = None
) -> Explanation:
    """Explain the header and body of a request, after its length if ``framed``.

    ``Explanation.error`` reports an unknown API or version. ``records`` and ``limit`` are as for ``explain``.
    """
    return _Explainer(as_bytes(data), records, SpanBudget(limit)).request(framed)


def explain_response(
    data: BytesLike,
    api: type[Message] | int,
    version: int,
    *,
    framed: bool = False,
    records: bool = False,
    limit: int | None = None,
) -> Explanation:
    """Explain the header and body of a response; ``api`` (key or message class) and ``version`` are the request's.

    An ApiVersionsResponse with UNSUPPORTED_VERSION is decoded at version 0 (KIP-511). Options are as for
    ``explain_request``. Raises UnknownApiError and UnsupportedVersionError.
    """
    return _Explainer(as_bytes(data), records, SpanBudget(limit)).response(api, version, framed)


def explain_record(
    data: BytesLike, message: type[Message], *, records: bool = False, limit: int | None = None
) -> Explanation:
    """Explain a key or value of an internal log, including its prefix.

    The prefix of a coordinator key is its record type, the prefix of any other message its version, both int16. Only
    metadata records have three varints: frame version, record type, version.
    """
    return _Explainer(as_bytes(data), records, SpanBudget(limit)).record(message)


class _Explainer:
    def __init__(self, data: bytes, records: bool, budget: SpanBudget) -> None:
        self.data = data
        self.records = records
        self.budget = budget
        self.pos = 0
        self.error: KafkaMessageError | None = None
        # Error of a truncated frame, which causes all later errors.
        self.cut: DecodeError | None = None
        # True if the message type is known and declares no secrets.
        self.is_harmless = False
        self.root = Span(0, len(data), "", "", "BYTES", STRUCT)

    def alone(self, message: type[Message], version: int) -> Explanation:
        check_class(message)
        self._message(message, version, "", is_whole=True)
        return self._result(f"{message.NAME} v{version}")

    def request(self, framed: bool) -> Explanation:
        if framed and not self._frame():
            return self._result("request")
        api, version = self._request_header()
        if self.error is None and api is not None:
            self._message(class_of(api.request_name), version, "", is_whole=False)
            if self.error is None:
                self._trailing(class_of(api.request_name))
        return self._result("request" if api is None else f"{api.request_name} v{version}")

    def response(self, which: type[Message] | int, version: int, framed: bool) -> Explanation:
        protocol = module("protocol")
        api = protocol.api(which)
        message, header = api.response_class, class_of("ResponseHeader")
        if version not in api.valid_versions and api.response_name != "ApiVersionsResponse":
            raise unsupported(message, version)
        self.is_harmless = not may_have_secrets(message)
        if not framed or self._frame():
            self._header(header, api.response_header_version(version))
        if self.error is None:
            version = self._answered(api, message, version)
            self._message(message, version, "", is_whole=True)
        return self._result(f"{message.NAME} v{version}")

    def record(self, message: type[Message]) -> Explanation:
        kind = descriptor_of(message).kind
        if kind == "metadata":
            fields: tuple[tuple[str, Type], ...] = (
                ("frame_version", UNSIGNED_VARINT),
                ("type", UNSIGNED_VARINT),
                ("version", UNSIGNED_VARINT),
            )
        else:
            fields = (("type" if kind == "coordinator-key" else "version", INT16),)
        values = self._prefix(fields)
        if values is None:
            return self._result(message.NAME)
        version = 0 if kind == "coordinator-key" else values[-1]
        # Kafka's consumers read a newer version as the latest known one.
        is_lenient = message.NAME in VERSIONED.values()
        known = min(version, message.HIGHEST_SUPPORTED_VERSION) if is_lenient else version
        number = values[0] if kind == "coordinator-key" else values[1] if kind == "metadata" else message.API_KEY
        if number != message.API_KEY:
            for each in self.root.children:
                redact(each)  # the record type may be wrong
            self._stop(DecodeError(f"expected record type {message.API_KEY} of {message.NAME}, got {number}"))
        elif known not in message._codecs:
            self._stop(unsupported(message, version))
        else:
            self._message(message, known, "", is_whole=not is_lenient)
            if is_lenient and self.error is None:
                self._trailing(message, rest_note(version > known))
        return self._result(f"{message.NAME} v{version}")

    def _result(self, title: str) -> Explanation:
        return Explanation(self.data, title, self.root, self.cut or self.error)

    def _message(self, message: type[Message], version: int, path: str, *, is_whole: bool) -> None:
        if version not in message._codecs:
            raise unsupported(message, version)
        traversal = SpanTraversal(self.data, self.pos, self.budget)
        span = traversal.struct(schemas_of(message)[version], path, name_of(message), is_whole)
        annotate(span, descriptor_of(message))
        open_fields(span, self.data, message, path, self.records, self.budget, self._request_inside)
        mark(span, message, path)
        if traversal.error is not None and (has_secrets(message) or may_hold_metadata(name_of(message), self.data)):
            redact_uncertain(span)
        span.type = f"{message.NAME} v{version}"
        self.root.children.append(span)
        self.pos = traversal.end
        if traversal.error is not None:
            place = traversal.error.place.removeprefix(path).removeprefix(".") if path else traversal.error.place
            self.error = DecodeError(traversal.error.reason, message.NAME, version, place, traversal.error.offset)

    def _request_inside(self, data: bytes) -> Explanation:
        return _Explainer(data, self.records, self.budget).request(False)

    def _frame(self) -> bool:
        # A truncated frame is decoded as far as possible.
        values = self._prefix((("frame_length", INT32),))
        if values is None:
            return False
        size, left = values[0], len(self.data) - self.pos
        self.root.children[-1].note = "as many bytes follow" if size == left else f"{left} bytes follow"
        if size == left:
            return True
        error = DecodeError(f"the frame has {size} bytes, but {left} follow", offset=self.pos)
        if size > left:
            self.cut = error
        else:
            self._stop(error, is_fault=True)
        return size > left

    def _prefix(self, fields: tuple[tuple[str, Type], ...]) -> list[int] | None:
        values: list[int] = []
        for name, kind in fields:
            try:
                value, end = kind.read(self.data, self.pos)
            except SchemaError as error:
                self._stop(DecodeError(error.reason, path=name, offset=error.offset), is_fault=True)
                return None
            assert isinstance(value, int)
            self.root.children.append(Span(self.pos, end, name, name, kind.name, LENGTH, value))
            values.append(value)
            self.pos = end
        return values

    def _request_header(self) -> tuple[Any, int]:
        protocol, start = module("protocol"), self.pos
        traversal = SpanTraversal(self.data, start)
        traversal.struct(_CERTAIN, "header", "header")
        header = class_of("RequestHeader")
        if traversal.error is not None:
            self._header(header, header.LOWEST_SUPPORTED_VERSION)
            if self.cut is None and may_be_token(self.data[start:]):
                redact(self.root.children[-1])
            return None, -1
        key, version = INT16.read(self.data, start)[0], INT16.read(self.data, start + 2)[0]
        try:
            api = protocol.api(key)
        except protocol.UnknownApiError as error:
            self._unknown(error)
            return None, version
        header_version = api.request_header_version(version)
        if version not in api.valid_versions:
            what = f"{api.request_name} has no version {version}: the API was removed"
            gone = UnsupportedVersionError(what) if not api.valid_versions else unsupported(api.request_class, version)
            self._unknown(gone, header_version)
            return api, version
        self.is_harmless = not may_have_secrets(api.request_class)
        if header_version < header.LOWEST_SUPPORTED_VERSION:
            self._certain()
        else:
            self._header(header, header_version)
        return api, version

    def _header(self, header: type[Message], version: int) -> None:
        self._message(header, version, "header", is_whole=False)
        if not self.is_harmless:
            redact_header(self.root.children[-1], is_damaged=self.error is not None)

    def _unknown(self, error: KafkaMessageError, header_version: int = -1) -> None:
        # Show the header of an unknown request, unless the bytes may be a SASL token.
        header = class_of("RequestHeader")
        if may_be_token(self.data[self.pos :]):
            error = DecodeError("unknown request header; this may be a SASL token", offset=self.pos)
        elif header_version < header.LOWEST_SUPPORTED_VERSION:
            self._certain()
        else:
            self._header(header, header_version)
        if self.error is None:
            self._stop(error)

    def _certain(self) -> None:
        traversal = SpanTraversal(self.data, self.pos)
        span = traversal.struct(_CERTAIN, "header", "header")
        annotate(span, descriptor_of(class_of("RequestHeader")))
        span.type = "RequestHeader"
        self.root.children.append(span)
        self.pos = traversal.end

    def _answered(self, api: Any, message: type[Message], version: int) -> int:
        # ApiVersions responses fall back to version 0 (KIP-511).
        if api.response_name == "ApiVersionsResponse" and self.data.startswith(_UNSUPPORTED_VERSION, self.pos):
            traversal = SpanTraversal(self.data, self.pos)
            traversal.struct(schemas_of(message)[0], "", "", is_whole=True)
            if traversal.error is None:
                return 0
        return version

    def _trailing(self, message: type[Message], note: str = "after the message; ignored by brokers") -> None:
        if self.pos < len(self.data):
            rest = Span(self.pos, len(self.data), "trailing", "trailing", "BYTES", REST, None, note)
            rest.is_secret = has_secrets(message)
            self.root.children.append(rest)
            self.pos = len(self.data)

    def _stop(self, error: KafkaMessageError, *, is_fault: bool = False) -> None:
        # Redact the unread rest unless the message is known to have no secrets.
        self.error = error
        reason = getattr(error, "reason", "") or str(error)
        role = FAULT if is_fault else REST
        rest = Span(self.pos, len(self.data), "", "", "", role, None, reason)
        if not self.is_harmless:
            redact(rest)
        self.root.children.append(rest)
        self.pos = len(self.data)
