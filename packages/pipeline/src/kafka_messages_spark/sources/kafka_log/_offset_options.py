"""Parser of ``startingOffsets``, ``endingOffsets`` and their variants, as in Spark's Kafka source."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.errors import PySparkValueError

from ..._core.errors import invalid_argument
from ..._core.options import Options

# Special offsets, as in Kafka's ListOffsets.
EARLIEST, LATEST = -2, -1
START_OPTIONS = (
    "startingOffsets",
    "startingTimestamp",
    "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
)
END_OPTIONS = ("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp")
_INT64 = 1 << 63

TopicPartition = tuple[str, int]


@dataclass(frozen=True)
class OffsetOption:
    """Start (inclusive) or end (exclusive) of a read, as offset or timestamp."""

    option: str
    # Value for all partitions.
    number: int | None = None
    # Value per partition, if number is None.
    numbers: Mapping[TopicPartition, int] = field(default_factory=dict)
    # True if the values are milliseconds since the epoch instead of offsets.
    is_time: bool = False
    # False if no option is set, so that the default applies.
    is_set: bool = True

    @classmethod
    def parse(cls, owner: str, given: Options, kind: str, default: int) -> OffsetOption:
        """Parse the options of ``kind`` (starting or ending).

        As in Spark, a timestamp for all partitions takes precedence over timestamps per partition, and both over offsets.
        """
        name = f"{kind}Timestamp"
        if (text := given.text(name)) is not None:
            if not re.fullmatch(r"\s*[0-9]{1,19}\s*", text) or int(text) >= _INT64:
                raise invalid_argument(
                    f"{owner}: the option {name!r} is in milliseconds. Expected a single long value, got {text}"
                )
            return cls(name, number=int(text), is_time=True)
        name = f"{kind}OffsetsByTimestamp"
        if (text := given.text(name)) is not None:
            example = '{"topicA": {"0": 123456789, "1": 123456789}, "topicB": {"0": 123456789, "1": 123456789}}'
            return cls(name, None, _numbers(owner, name, text, 0, example), is_time=True)
        name = f"{kind}Offsets"
        if (text := given.text(name)) is None:
            return cls(name, number=default, is_set=False)
        word = text.strip().lower()
        if word in ("earliest", "latest"):
            return cls(name, number=EARLIEST if word == "earliest" else LATEST)
        example = '{"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}'
        return cls(name, None, _numbers(owner, name, text, EARLIEST, example))

    def is_all(self, number: int) -> bool:
        return self.number == number and not self.is_time

    def of(self, partition: TopicPartition) -> int:
        return self.numbers[partition] if self.number is None else self.number

    def has(self, number: int) -> TopicPartition | None:
        return None if self.is_time else next((each for each, n in self.numbers.items() if n == number), None)


def check_batch_offsets(owner: str, start: OffsetOption, end: OffsetOption) -> None:
    if start.is_all(LATEST):
        raise invalid_argument(f"{owner}: starting offset can't be latest for batch queries")
    if (found := start.has(LATEST)) is not None:
        raise invalid_argument(f"{owner}: startingOffsets for {_name(found)} can't be latest for batch queries")
    if end.is_all(EARLIEST):
        raise invalid_argument(f"{owner}: ending offset can't be earliest for batch queries")
    if (found := end.has(EARLIEST)) is not None:
        raise invalid_argument(f"{owner}: ending offset for {_name(found)} can't be earliest for batch queries")


def check_stream_offsets(owner: str, end: OffsetOption) -> None:
    if end.is_set:
        what = "timestamp" if end.is_time else "offset"
        raise invalid_argument(f"{owner}: ending {what} not valid in streaming queries; remove {end.option!r}")


def check_partitions(owner: str, edge: OffsetOption, there: set[TopicPartition]) -> None:
    """If the option lists partitions, raise PySparkValueError unless they are exactly those in ``there``."""
    if edge.number is None and (given := set(edge.numbers)) != there:
        rest = "" if edge.is_time else " Use -1 for latest, -2 for earliest, if you don't care."
        raise invalid_argument(
            f"{owner}: If {edge.option} contains specific offsets, you must specify all TopicPartitions.{rest} "
            f"Specified: {_names(given)} Assigned: {_names(there)}"
        )


def no_offset_matched(owner: str, partition: str, timestamp: int) -> PySparkValueError:
    return invalid_argument(
        f"{owner}: No offset matched from request of topic-partition {partition} and timestamp {timestamp}. To start such "
        "partitions at their end, set the option 'startingOffsetsByTimestampStrategy' to 'latest'."
    )


def _numbers(owner: str, option: str, text: str, least: int, example: str) -> dict[TopicPartition, int]:
    try:
        found = json.loads(text, object_pairs_hook=_once)
        return {
            (topic, _partition(partition)): _number(number, least)
            for topic, partitions in found.items()
            for partition, number in partitions.items()
        }
    except (ValueError, AttributeError):
        raise invalid_argument(f"{owner}: invalid option {option!r}. Expected e.g. {example}, got {text}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate name")
    return found


def _partition(text: str) -> int:
    if not re.fullmatch(r"0|[1-9][0-9]{0,9}", text):
        raise ValueError(text)
    return int(text)


def _number(found: object, least: int) -> int:
    if not isinstance(found, int) or isinstance(found, bool) or not least <= found < _INT64:
        raise ValueError(found)
    return found


def _name(partition: TopicPartition) -> str:
    return f"{partition[0]}-{partition[1]}"


def _names(partitions: set[TopicPartition]) -> str:
    return ", ".join(map(_name, sorted(partitions))) or "none"
