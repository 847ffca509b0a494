"""Measurement of messages: size by field, and under other integer encodings.

The encodings are those of docs/protocol/encodings.md: ``fixed``, ``packed`` (zig-zag varint) and ``upacked`` (varint
of the two's complement).
"""

from kafka_message_generator.cost.encodings import FORMS, SizeRange, encoded_size, histogram
from kafka_message_generator.cost.measure import Cost, FieldCost, Totals, cost
from kafka_message_generator.cost.samples import CostError, CostSample, read_samples

__all__ = [
    "FORMS",
    "Cost",
    "CostError",
    "CostSample",
    "FieldCost",
    "SizeRange",
    "Totals",
    "cost",
    "encoded_size",
    "histogram",
    "read_samples",
]
