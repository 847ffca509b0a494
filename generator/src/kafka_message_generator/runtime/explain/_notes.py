"""Notes on spans from the definition: names of numbers, times and defaults."""

from __future__ import annotations

from ..schema.descriptors import FieldDescriptor, MessageDescriptor
from ..schema.spans import ARRAY, LENGTH, SECTION, STRUCT, VALUE, Span
from ._names import is_time, name_of, time_text


def annotate(top: Span, descriptor: MessageDescriptor) -> None:
    _fields(top, {field.name: field for field in descriptor.fields}, descriptor, "")


def _fields(struct: Span, known: dict[str, FieldDescriptor], descriptor: MessageDescriptor, above: str) -> None:
    for span in struct.children:
        if span.role == SECTION:
            _fields(span, known, descriptor, above)
            continue
        field = known.get(span.name)
        if field is not None and span.role in (VALUE, ARRAY, STRUCT):
            path = f"{above}.{field.name}" if above else field.name
            _field(span, field, descriptor, path)


def _field(span: Span, field: FieldDescriptor, descriptor: MessageDescriptor, path: str) -> None:
    if field.is_struct:
        inner = {each.name: each for each in descriptor.structs[field.type]}
        for struct in span.children if span.role == ARRAY else (span,):
            if struct.role == STRUCT:
                _fields(struct, inner, descriptor, path)
    if span.role == ARRAY:
        for element in span.children:
            if element.role == VALUE:
                _value(element, field, descriptor, path)
        if _is_default(span, field) and span.children[0].role == LENGTH:
            span.children[0].add_note("= default")
    elif span.role == VALUE:
        _value(span, field, descriptor, path)
        if _is_default(span, field):
            span.add_note("= default")


def _is_default(span: Span, field: FieldDescriptor) -> bool:
    default = field.default()
    return span.value == (0 if default == [] else default)


def _value(span: Span, field: FieldDescriptor, descriptor: MessageDescriptor, path: str) -> None:
    value = span.value
    if type(value) is not int:
        return
    name = name_of(descriptor.name, path, field, value)
    if name is not None:
        span.note = f"{name}, {span.note}" if span.note else name
    elif is_time(field) and (time := time_text(value)) is not None:
        span.note = time
