"""Detection of messages that decode and encode to the same bytes, and of requests by their header."""

from __future__ import annotations

from typing import NamedTuple

from ..text import counted
from ._names import headers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kafka_messages import MessageInfo
    from kafka_messages.explain import Explanation

    from ..package import Package
    from ._output import Output

_SAME = "reads and writes the same bytes"
# Maximum version accepted in a request header whose body cannot be decoded.
_MOST_VERSIONS = 128
# Maximum correlation id of such a header without a client id: the ids of a connection count its requests.
_MOST_REQUESTS = 1 << 24


class Candidate(NamedTuple):
    message: str
    versions: str
    # Prefix of the message, such as `a length and a header`, or empty.
    before: str
    score: float
    reasons: tuple[str, ...]
    # True for a request that fits exactly, or of which only the header is shown.
    is_certain: bool = False

    @property
    def what(self) -> str:
        return f"{self.message} v{self.versions}{' after ' if self.before else ''}{self.before}"


class _Place(NamedTuple):

    body: bytes
    before: str = ""
    # Header version of a response, or None.
    header: int | None = None
    # Message version, if known.
    version: int | None = None
    # Record type, if known.
    key: int | None = None
    score: float = 0.0
    reasons: tuple[str, ...] = ()
    # Offset of the body of a frame.
    start: int = 0


def candidates(package: Package, data: bytes, out: Output) -> list[Candidate]:
    """Return the messages that data may be, the best one first; only one if it is a request without errors."""
    guesser = Guesser(package, data)
    found = guesser.requests()
    if certain := [each for each in found if _SAME in each.reasons]:
        return certain[-1:]
    named = package.root.all_messages()
    with out.progress("messages", len(named)) as progress:
        for each in named:
            progress.step()
            found += guesser.messages(each)
    return sorted(found, key=lambda guess: (-guess.score, guess.what))


def has_batches(data: bytes) -> bool:
    """Check whether data starts with a record batch, in format 2 also with a truncated or damaged one."""
    from kafka_records import read_batches

    size = len(data) - 12
    if size > 0 and int.from_bytes(data[8:12], "big") > size:
        data = data[:8] + size.to_bytes(4, "big") + data[12:]
    try:
        batch = next(read_batches(data, verify=False), None)
        if batch is None or batch.magic < 2:
            return next(read_batches(data), None) is not None
    except ValueError:
        return False
    return batch.attributes < 128 and batch.producer_id >= -1 and 0 < batch.count <= batch.last_offset_delta + 1


class Guesser:
    def __init__(self, package: Package, data: bytes) -> None:
        self._package = package
        self._protocol = package.optional("protocol")
        self._explain = package.module("explain")
        self._data = data
        self._starts = [] if self._protocol is None else [_Place(data, "a header"), *_frames(self._protocol, data)]
        self._alone = [_Place(data)]
        self._by_kind: dict[str, list[_Place]] = {
            "response": self._behind_headers(),
            **_behind_versions(package.module("schema"), data),
        }

    def requests(self) -> list[Candidate]:
        """Return candidates for requests that start with a header, or with a length and a header."""
        return [guess for guess in map(self._request, self._starts) if guess is not None]

    def _request(self, place: _Place) -> Candidate | None:
        """Return a candidate if the header is valid; the body and the length of the frame may have errors."""
        try:
            header, _ = self._protocol.read_request_header(place.body)
            api = self._protocol.api(header.request_api_key)
        except ValueError:
            return None
        explained = self._explain.explain_request(self._data[: place.start + len(place.body)], framed=place.start > 0)
        fault = self._fault(place, explained)
        if (fault or place.start > place.score) and not _is_plausible(place.body, header, api):
            return None
        more, reasons = self._weighed(explained)
        version = header.request_api_version
        evidence = max(more, 0) + (header.request_api_key > 0) * (10 if header.client_id else 6) if fault else more + 12
        reasons = (*place.reasons, f"API {api.name} and version {version} in the header", fault or _SAME, *reasons)
        is_certain = not fault or version not in api.valid_versions
        return Candidate(api.request_name, str(version), place.before, place.score + evidence, reasons, is_certain)

    def _fault(self, place: _Place, explained: Explanation) -> str:
        """Return the reason why bytes after a request header are not exactly the request, or an empty string."""
        size, left = int.from_bytes(self._data[:4], "big"), len(place.body)
        if place.start and size > left:
            return f"but {size} bytes announced, {left} follow"
        try:
            request = self._protocol.decode_request(place.body)
        except ValueError as error:
            return f"but {explained.error or error}"
        if request.trailing:
            return f"but {counted(len(request.trailing), 'byte')} after the message"
        return "" if request.encode(framed=False) == place.body else "but encodes to other bytes"

    def messages(self, info: MessageInfo) -> list[Candidate]:
        by_layout: dict[tuple[int, int | None], list[int]] = {}
        headers = headers_of(self._package, info)
        for version, schema in self._package.message(info.name).schemas().items():
            by_layout.setdefault((id(schema), _header_of(headers, version)), []).append(version)
        found = (
            self._at(place, info, [each for each in versions if place.version in (None, each)])
            for (_, header), versions in by_layout.items()
            for place in (*self._alone, *self._by_kind.get(info.kind, ()))
            if place.header in (None, header) and place.key in (None, info.api_key)
        )
        return [guess for guess in found if guess is not None]

    def _behind_headers(self) -> list[_Place]:
        found = []
        for place in [each for each in self._starts if each.score or not each.start]:
            header = self._package.message("ResponseHeader")
            for version in header.schemas():
                try:
                    read, end = header.read_from(place.body, 0, version)
                except ValueError:
                    continue
                if read.write(version) != place.body[:end] or read.correlation_id < 0:
                    continue
                score = place.score + (0.5 if read.correlation_id < 1 << 24 else -1)
                reasons = (*place.reasons, f"correlation id {read.correlation_id}")
                found.append(_Place(place.body[end:], place.before, version, score=score, reasons=reasons))
        return found

    def _at(self, place: _Place, info: MessageInfo, versions: list[int]) -> Candidate | None:
        if not versions:
            return None
        message, version = self._package.message(info.name), versions[-1]
        try:
            if message.read(place.body, version).write(version) != place.body:
                return None
        except ValueError:
            return None
        score, reasons = self._weighed(self._explain.explain(place.body, message, version))
        versions_text = str(version) if len(versions) == 1 else f"{versions[0]}-{version}"
        return Candidate(info.name, versions_text, place.before, place.score + score, (*place.reasons, _SAME, *reasons))

    def _weighed(self, found: Explanation) -> tuple[float, tuple[str, ...]]:
        codes = set(self._error_fields(found))
        texts = odd = unknown = known = negative = elements = 0
        score = 0.0
        for leaf in found.leaves():
            value = leaf.value
            if "unknown_tagged_fields" in leaf.path:
                unknown += 1
            elif isinstance(value, str) and value:
                is_plain = value.isprintable()
                texts, odd = texts + is_plain, odd + (not is_plain)
                score += min(len(value), 12) / 2 if is_plain else -6
            elif leaf.name in codes:
                is_known = "UNKNOWN_" not in leaf.note or leaf.note.startswith("UNKNOWN_TOPIC")
                known += is_known
                score += (1.5 if value else 0.5) if is_known else -6
            elif leaf.name == "count":
                elements += leaf.role == "length" and isinstance(value, int) and value > 0
            elif leaf.type in ("INT16", "INT32", "INT64") and isinstance(value, int):
                negative += value < -1
                score += 0.3 if -1 <= value < 1 << 24 else 0.5 if leaf.note else -0.5
            elif isinstance(value, bool):
                score += 0.2 if found.data[leaf.start] < 2 else -3
        score += elements - 3 * negative - 4 * unknown
        return score, tuple(_reasons(texts, odd, known, elements, negative, unknown))

    def _error_fields(self, found: Explanation) -> list[str]:
        name = found.title.partition(" ")[0]
        descriptor = self._package.module("schema").descriptor_of(self._package.message(name))
        fields = [field for some in (descriptor.fields, *descriptor.structs.values()) for field in some]
        return [field.name for field in fields if field.is_error_code]


def _frames(protocol: Any, data: bytes) -> list[_Place]:
    """Return the first frame, if its length is possible; without a score if frames do not fill the data exactly."""
    size, left, before = int.from_bytes(data[:4], "big", signed=True), len(data) - 4, "a length and a header"
    try:
        count = len(protocol.split_frames(data))
        reason = f"the first of {count} frames" if count > 1 else "the length matches the bytes"
        return [_Place(data[4 : 4 + size], before, score=8, reasons=(reason,), start=4)] if count else []
    except ValueError:
        reasons = (f"but {size} bytes announced, {left} follow",) * (size <= left)
        return [_Place(data[4 : 4 + size], before, reasons=reasons, start=4)] if size > 0 else []


def _is_plausible(data: bytes, header: Any, api: Any) -> bool:
    """Check the header of a request with errors: other messages often start with zeros, or a number and a text."""
    key, version, client = header.request_api_key, header.request_api_version, header.client_id
    is_counted = 0 < header.correlation_id < _MOST_REQUESTS
    is_zero = not client and (not key or (client == "" and not is_counted))
    most = _MOST_VERSIONS if key or not api.valid_versions else api.valid_versions.highest + 3
    has_client = data[8:10] == b"\xff\xff" if client is None else client.isprintable()
    is_text = data[4:8].decode("latin-1").isprintable()  # no correlation id
    return has_client and not (is_zero or is_text) and 0 <= version <= most and header.correlation_id >= 0


def _behind_versions(schema: Any, data: bytes) -> dict[str, list[_Place]]:
    found: dict[str, list[_Place]] = {}
    if len(data) > 1:
        number, end = schema.INT16.read(data, 0)
        found["coordinator-key"] = [_Place(data[end:], "its type", version=0, key=number, score=2)]
        of_values = _Place(data[end:], "its version", version=number, score=1)
        found["coordinator-value"] = found["data"] = [of_values]
    if (prefix := _type_and_version(schema, data)) is not None:
        kind, version, end = prefix
        found["metadata"] = [_Place(data[end:], "its type and version", version=version, key=kind, score=4)]
    return found


def _type_and_version(schema: Any, data: bytes) -> tuple[int, int, int] | None:
    values, at = [], 0
    try:
        for _ in range(3):
            value, at = schema.UNSIGNED_VARINT.read(data, at)
            values.append(value)
    except schema.SchemaError:
        return None
    frame, kind, version = values
    return (kind, version, at) if frame == 1 else None


def _header_of(headers: tuple[tuple[int, int], ...], version: int) -> int | None:
    return next((header for first, header in reversed(headers) if version >= first), None)


def _reasons(texts: int, odd: int, known: int, elements: int, negative: int, unknown: int) -> list[str]:
    counted = (
        (texts, "printable strings: {}"),
        (known, "known error codes: {}"),
        (elements, "arrays with elements: {}"),
        (odd, "but unprintable strings: {}"),
        (negative, "but negative numbers: {}"),
        (unknown, "but unknown tagged fields: {}"),
    )
    return [words.format(count) for count, words in counted if count]
