"""Detection of the messages and versions that decode some bytes and encode to the same bytes."""

from __future__ import annotations

from typing import NamedTuple

from ._names import headers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kafka_messages import MessageInfo
    from kafka_messages.explain import Explanation

    from ..package import Package
    from ._output import Output

_SAME = "reads and writes the same bytes"
# Maximum version accepted in a request header.
_MOST_VERSIONS = 128


class Candidate(NamedTuple):
    message: str
    versions: str
    # Prefix of the message, such as `a length and a header`, or empty.
    before: str
    score: float
    reasons: tuple[str, ...]
    # True if a request header contains the API.
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


def candidates(package: Package, data: bytes, out: Output) -> list[Candidate]:
    """Return the messages that data may be, the best one first; only one if a header contains the API."""
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


class Guesser:
    def __init__(self, package: Package, data: bytes) -> None:
        self._package = package
        self._protocol = package.optional("protocol")
        self._explain = package.module("explain")
        self._frame: bytes | None = None
        self._framed: tuple[str, ...] = ()
        if self._protocol is not None:
            self._frame, count = _first_frame(self._protocol, data)
            self._framed = (f"the first of {count} frames",) if count > 1 else ("the length matches the bytes",)
        self._data = data
        self._alone = [_Place(data)]
        self._by_kind: dict[str, list[_Place]] = {
            "response": self._behind_headers(),
            **_behind_versions(package.module("schema"), data),
        }

    def requests(self) -> list[Candidate]:
        """Return candidates for requests that start with a header, or with a length and a header."""
        if self._protocol is None:
            return []
        found = [self._request(self._data, "a header", 12) or self._unknown_version(self._data, "a header", 0)]
        if (frame := self._frame) is not None:
            before, score = "a length and a header", 20
            guess = self._request(frame, before, score, self._framed)
            found.append(guess or self._unknown_version(frame, before, 8, self._framed))
        return [guess for guess in found if guess is not None]

    def _request(self, data: bytes, before: str, score: float, also: tuple[str, ...] = ()) -> Candidate | None:
        try:
            request = self._protocol.decode_request(data)
        except ValueError:
            return None
        if request.trailing or request.encode(framed=False) != data:
            return None
        more, reasons = self._weighed(self._explain.explain_request(data))
        reason = f"API {request.api.name} and version {request.version} in the header"
        reasons = (*also, reason, _SAME, *reasons)
        return Candidate(request.api.request_name, str(request.version), before, score + more, reasons, True)

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
        if self._protocol is None:
            return []
        header = self._package.message("ResponseHeader")
        found = []
        starts: list[tuple[bytes, str, float, tuple[str, ...]]] = [(self._data, "a header", 0, ())]
        if self._frame is not None:
            starts.append((self._frame, "a length and a header", 8, self._framed))
        for data, before, score, also in starts:
            for version in header.schemas():
                try:
                    read, end = header.read_from(data, 0, version)
                except ValueError:
                    continue
                if read.write(version) != data[:end] or read.correlation_id < 0:
                    continue
                likely = 0.5 if read.correlation_id < 1 << 24 else -1
                reasons = (*also, f"correlation id {read.correlation_id}")
                found.append(_Place(data[end:], before, version, score=score + likely, reasons=reasons))
        return found

    def _unknown_version(self, data: bytes, before: str, score: float, also: tuple[str, ...] = ()) -> Candidate | None:
        kind = self._package.message("RequestHeader")
        try:
            header, _ = kind.read_from(data, 0, 1)
            api = self._protocol.api(header.request_api_key)
        except ValueError:
            return None
        version, client, name = header.request_api_version, header.client_id, api.request_name
        is_likely = header.correlation_id >= 0 and (client or "me").isprintable() and version < _MOST_VERSIONS
        if not is_likely or version in api.valid_versions or version < 0:
            return None
        there = f"has only {api.valid_versions}" if api.valid_versions else "is not in this package"
        reasons = (*also, f"API {api.name} and version {version} in the header", f"but {name} {there}")
        return Candidate(name, str(version), before, score + (6 if client else 0), reasons, True)

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


def _first_frame(protocol: Any, data: bytes) -> tuple[bytes | None, int]:
    try:
        frames = protocol.split_frames(data)
    except ValueError:
        return None, 0
    return (frames[0], len(frames)) if frames else (None, 0)


def _behind_versions(schema: Any, data: bytes) -> dict[str, list[_Place]]:
    found: dict[str, list[_Place]] = {}
    if len(data) > 1:
        number, end = schema.INT16.read_int(data, 0)
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
