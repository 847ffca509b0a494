"""What bytes could be: every message and version that reads them to the end and writes the same, with reasons."""

from __future__ import annotations

from .._base.message import class_of
from .._core.optional import optional
from .._core.value import dataclass
from ..explain import Explanation, explain, explain_request
from ..schema.build import schemas_of
from ..schema.facts import facts_of
from ._layouts import Range
from ._names import Entry


@dataclass(frozen=True, slots=True)
class Guess:
    """A message with the versions in which the bytes look the same."""

    message: str
    versions: str
    before: str
    """What stands before the message in the bytes; nothing, a header, or length and header."""
    score: float
    reasons: tuple[str, ...]

    @property
    def what(self) -> str:
        return f"{self.message} v{self.versions}{' behind ' if self.before else ''}{self.before}"


def guesses_at(data: bytes, entry: Entry) -> list[Guess]:
    """A guess for each layout of a message that the bytes fit."""
    message = class_of(entry.name)
    by_layout: dict[int, list[int]] = {}
    schemas = schemas_of(message)
    for version, schema in schemas.items():
        by_layout.setdefault(id(schema), []).append(version)
    found: list[Guess] = []
    for versions in by_layout.values():
        version = versions[-1]
        try:
            if message.read(data, version).write(version) != data:
                continue
        except ValueError:
            continue
        score, reasons = _weighed(explain(data, message, version))
        found.append(
            Guess(
                entry.name,
                Range(versions[0], versions[-1]).shown,
                "",
                score,
                ("reads and writes the same bytes", *reasons),
            )
        )
    return found


def with_headers(data: bytes) -> list[Guess]:
    """The request that the bytes say they are, with or without their length; bytes that are none say so quickly."""
    protocol = optional("protocol")
    found: list[Guess] = []
    for is_framed in (False, True):
        if is_framed and int.from_bytes(data[:4], "big") != len(data) - 4:
            continue
        try:
            request = protocol.decode_request(data[4:] if is_framed else data)
        except ValueError:
            continue
        if request.trailing or request.encode(framed=is_framed) != data:
            continue
        score, reasons = _weighed(explain_request(data, framed=is_framed))
        before = "a length and a header" if is_framed else "a header"
        said = f"the header says API {request.api.name} version {request.version}"
        reasons = (said, "reads and writes the same bytes", *reasons)
        found.append(Guess(request.api.request_name, str(request.version), before, score + 12 + 8 * is_framed, reasons))
    return found


def _weighed(found: Explanation) -> tuple[float, tuple[str, ...]]:
    """How much speaks for what was read: texts, known numbers, arrays; and against it: what nobody writes."""
    codes = set(_error_fields(found))
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


def _error_fields(found: Explanation) -> list[str]:
    name = found.title.partition(" ")[0]
    facts = facts_of(class_of(name))
    fields = [field for some in (facts.fields, *facts.structs.values()) for field in some]
    return [field.name for field in fields if field.is_error_code]


def _reasons(texts: int, odd: int, known: int, elements: int, negative: int, unknown: int) -> list[str]:
    counted = (
        (texts, "printable texts: {}"),
        (known, "known error codes: {}"),
        (elements, "arrays with elements: {}"),
        (odd, "but unprintable texts: {}"),
        (negative, "but negative numbers: {}"),
        (unknown, "but unknown tagged fields: {}"),
    )
    return [words.format(count) for count, words in counted if count]
