"""Notes on spans from the definition: names of numbers, times and defaults."""

from __future__ import annotations

from ..schema.facts import FieldFacts, MessageFacts
from ..schema.spans import ARRAY, LENGTH, SECTION, STRUCT, VALUE, Span
from ._names import is_time, name_of, time_text


def annotate(top: Span, facts: MessageFacts) -> None:
    _fields(top, {field.name: field for field in facts.fields}, facts, "")


def _fields(struct: Span, known: dict[str, FieldFacts], facts: MessageFacts, above: str) -> None:
    for span in struct.children:
        if span.role == SECTION:
            _fields(span, known, facts, above)
            continue
        field = known.get(span.name)
        if field is not None and span.role in (VALUE, ARRAY, STRUCT):
            path = f"{above}.{field.name}" if above else field.name
            _field(span, field, facts, path)


def _field(span: Span, field: FieldFacts, facts: MessageFacts, path: str) -> None:
    if field.is_struct:
        inner = {each.name: each for each in facts.structs[field.type]}
        for struct in span.children if span.role == ARRAY else (span,):
            if struct.role == STRUCT:
                _fields(struct, inner, facts, path)
    if span.role == ARRAY:
        for element in span.children:
            if element.role == VALUE:
                _value(element, field, facts, path)
        if _is_default(span, field) and span.children[0].role == LENGTH:
            span.children[0].add_note("= default")
    elif span.role == VALUE:
        _value(span, field, facts, path)
        if _is_default(span, field):
            span.add_note("= default")


def _is_default(span: Span, field: FieldFacts) -> bool:
    default = field.default()
    return span.value == (0 if default == [] else default)


def _value(span: Span, field: FieldFacts, facts: MessageFacts, path: str) -> None:
    value = span.value
    if type(value) is not int:
        return
    name = name_of(facts.name, path, field, value)
    if name is not None:
        span.note = f"{name}, {span.note}" if span.note else name
    elif is_time(field) and (time := time_text(value)) is not None:
        span.note = time
