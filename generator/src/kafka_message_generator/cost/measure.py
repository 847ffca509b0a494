"""Measurement of samples under their definition and under copies with other encodings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from kafka_message_generator.cost.encodings import FORMS, encoded_size
from kafka_message_generator.cost.samples import CostError, CostSample
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.runtime._core.versions import MAX_VERSION, Versions
from kafka_message_generator.runtime.schema import Schema, SchemaError, Struct
from kafka_message_generator.runtime.schema.build import SchemaBuilder
from kafka_message_generator.runtime.schema.descriptors import FieldDescriptor, MessageDescriptor, parse_descriptor
from kafka_message_generator.spec.model import ENCODED_TYPES

_ALL = Versions(0, MAX_VERSION)


@dataclass(frozen=True)
class FieldCost:
    """Size of an integer field, or of the elements of an integer array, summed over all samples.

    ``fixed``, ``packed`` and ``upacked`` are the bytes under each encoding at the type's width, without array lengths.
    """

    path: str  # such as ``topics[].partitions[].leader_id``
    type: str
    encoding: str  # encoding by the definition, such as ``fixed32``
    values: int
    defined: int  # bytes under ``encoding``
    fixed: int
    packed: int
    upacked: int
    # Smallest of ``FORMS``, the first if several are equal; None without values. The same for all uses of a struct.
    smallest: str | None
    share: float  # ``defined`` relative to all bytes of the samples, 0 to 1


@dataclass(frozen=True)
class Totals:
    """Bytes of all samples if all integers use one encoding; ``smallest`` chooses by field."""

    defined: int  # the definition's own encodings
    fixed: int
    packed: int
    upacked: int
    smallest: int  # the smallest form of each field


@dataclass(frozen=True)
class Cost:
    """Size of the samples of a message in bytes; ``fields`` are in definition order."""

    message: str
    version: int
    samples: int
    fields: tuple[FieldCost, ...]
    totals: Totals

    @property
    def other(self) -> int:
        """Bytes other than integers: strings, lengths, counts, tags and other types."""
        return self.totals.defined - sum(field.defined for field in self.fields)


@dataclass(frozen=True)
class _Integer:
    path: str
    owner: str
    descriptor: FieldDescriptor

    @property
    def bits(self) -> int:
        return ENCODED_TYPES[self.descriptor.type]

    def encoding(self, version: int) -> str:
        encodings = self.descriptor.element_encodings if self.descriptor.is_array else self.descriptor.encodings
        return next((name for versions, name in encodings if version in versions), f"fixed{self.bits}")


def cost(message: MessagePlan, version: int, samples: Iterable[CostSample]) -> Cost:
    """Measure samples of one message version, by integer field and in total.

    Samples are re-encoded, so non-canonical samples (longer varints, tagged fields at their default) differ in size.
    Raises CostError without samples, for an invalid version, and for samples of another version or with invalid bytes.
    """
    if version not in message.valid:
        raise CostError(f"{message.name} has no version {version}, only {message.valid}")
    descriptor = parse_descriptor(message.descriptor)
    values = list(_decoded(descriptor, version, samples))
    if not values:
        raise CostError(f"no samples of {message.name} version {version}")
    integers = list(_integers(descriptor, descriptor.fields, descriptor.name, version, ""))
    counts: dict[str, Counter[int]] = {integer.path: Counter() for integer in integers}
    for value in values:
        _count(descriptor, descriptor.fields, value, "", counts)
    sizes = {integer.path: _sizes(integer, version, counts[integer.path]) for integer in integers}
    smallest = _smallest(integers, sizes)
    total = _total(descriptor, version, values)
    rewritten = [_rewritten(descriptor, {}, form) for form in FORMS]
    rewritten.append(_rewritten(descriptor, {key: form for key, form in smallest.items() if form}, FORMS[0]))
    totals = Totals(total, *(_total(each, version, values) for each in rewritten))
    fields = []
    for integer in integers:
        by_form = sizes[integer.path]
        fields.append(
            FieldCost(
                path=integer.path,
                type=integer.descriptor.type,
                encoding=integer.encoding(version),
                values=counts[integer.path].total(),
                smallest=smallest[integer.owner, integer.descriptor.name],
                share=by_form["defined"] / total if total else 0.0,
                **by_form,
            )
        )
    return Cost(message.name, version, len(values), tuple(fields), totals)


def _schema(descriptor: MessageDescriptor, version: int) -> Schema:
    return SchemaBuilder(descriptor).struct(descriptor.fields, version)


def _decoded(descriptor: MessageDescriptor, version: int, samples: Iterable[CostSample]) -> Iterator[Struct]:
    schema, problems = _schema(descriptor, version), []
    for sample in samples:
        what = f"{sample.place}: {descriptor.name} v{version}: "
        if sample.version != version:
            problems.append(f"{what}the sample is of version {sample.version}")
            continue
        try:
            value, end = schema.read(sample.data)
        except SchemaError as error:
            problems.append(f"{what}{error}")
            continue
        if end != len(sample.data):
            problems.append(f"{what}{len(sample.data) - end} byte(s) left after the message, at offset {end}")
        yield value
    if problems:
        raise CostError(*problems)


def _present(
    descriptor: MessageDescriptor, fields: tuple[FieldDescriptor, ...], version: int
) -> Iterator[FieldDescriptor]:
    for field in fields:
        if version in field.versions and (version in descriptor.with_optional or not field.optional):
            yield field


def _integers(
    descriptor: MessageDescriptor, fields: tuple[FieldDescriptor, ...], owner: str, version: int, prefix: str
) -> Iterator[_Integer]:
    for field in _present(descriptor, fields, version):
        path = _path(prefix, field)
        if field.type in ENCODED_TYPES:
            yield _Integer(path, owner, field)
        elif field.is_struct:
            yield from _integers(descriptor, descriptor.structs[field.type], field.type, version, f"{path}.")


def _path(prefix: str, field: FieldDescriptor) -> str:
    return f"{prefix}{field.name}{'[]' if field.is_array else ''}"


def _count(
    descriptor: MessageDescriptor,
    fields: tuple[FieldDescriptor, ...],
    struct: Struct,
    prefix: str,
    counts: dict[str, Counter[int]],
) -> None:
    for field in fields:
        value = struct.values.get(field.name)
        path = _path(prefix, field)
        for element in value if isinstance(value, list) else [value]:
            if isinstance(element, Struct):
                _count(descriptor, descriptor.structs[field.type], element, f"{path}.", counts)
            elif isinstance(element, int) and field.type in ENCODED_TYPES:
                counts[path][element] += 1


def _sizes(integer: _Integer, version: int, values: Counter[int]) -> dict[str, int]:
    def total(form: str, bits: int) -> int:
        return sum(count * encoded_size(form, bits, value) for value, count in values.items())

    encoding = integer.encoding(version)
    by_form = {form: total(form, integer.bits) for form in FORMS}
    return {"defined": total(encoding[:-2], int(encoding[-2:])), **by_form}


def _smallest(
    integers: Iterable[_Integer], sizes: Mapping[str, Mapping[str, int]]
) -> dict[tuple[str, str], str | None]:
    sums: dict[tuple[str, str], Counter[str]] = {}
    for integer in integers:
        sums.setdefault((integer.owner, integer.descriptor.name), Counter()).update(sizes[integer.path])
    return {
        key: min(FORMS, key=lambda form: by_form[form]) if by_form["fixed"] else None for key, by_form in sums.items()
    }


def _rewritten(
    descriptor: MessageDescriptor, forms: Mapping[tuple[str, str], str], otherwise: str
) -> MessageDescriptor:
    def changed(owner: str, fields: tuple[FieldDescriptor, ...]) -> tuple[FieldDescriptor, ...]:
        return tuple(
            _encoded(field, forms.get((owner, field.name), otherwise)) if field.type in ENCODED_TYPES else field
            for field in fields
        )

    structs = {name: changed(name, fields) for name, fields in descriptor.structs.items()}
    return replace(descriptor, fields=changed(descriptor.name, descriptor.fields), structs=structs)


def _encoded(field: FieldDescriptor, form: str) -> FieldDescriptor:
    encodings = ((_ALL, f"{form}{ENCODED_TYPES[field.type]}"),)
    return replace(field, element_encodings=encodings) if field.is_array else replace(field, encodings=encodings)


def _total(descriptor: MessageDescriptor, version: int, values: Iterable[Struct]) -> int:
    schema = _schema(descriptor, version)
    return sum(schema.size_of(value) for value in values)
