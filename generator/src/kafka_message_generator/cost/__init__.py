"""What a message costs in bytes, field by field, and what it would cost under other integer encodings.

The encodings are those of the integer-encoding proposal (002): ``fixed``, ``packed`` (zig-zag varint) and ``upacked``
(varint of the two's complement). Nothing generated is needed: definitions and sample messages are enough.
"""

from kafka_message_generator.cost.encodings import FORMS, SizeRange, encoded_size, histogram
from kafka_message_generator.cost.measure import Cost, FieldCost, Totals, cost
from kafka_message_generator.cost.samples import CostError, Sample, read_samples

__all__ = [
    "FORMS",
    "Cost",
    "CostError",
    "FieldCost",
    "Sample",
    "SizeRange",
    "Totals",
    "cost",
    "encoded_size",
    "histogram",
    "read_samples",
]
