"""Filter pushdown of kafka_log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("kafka_records.segments.batch_writer", reason="kafka_records is not installed")

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import (
    DataSourceReader,
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringContains,
    StringEndsWith,
    StringStartsWith,
)

from kafka_messages_spark import register
from tests.pipeline.log_files import COUNT, batch_of, counted, rows_of, segment
from tests.pipeline.log_files import reader_of as plain_reader_of

ENABLED = "spark.sql.python.filterPushdown.enabled"


def reader_of(path: object, **options: str) -> Any:
    return plain_reader_of(path, filterPushdown="true", **options)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pushdown")
    for partition in (0, 1):
        for base in (0, 20, 40):
            segment(root / f"orders-{partition}", base, 4, compression="gzip")
    folder = root / "clicks-0"
    folder.mkdir()
    parts = [
        batch_of(range(5), [9, 3, 1, 4, 30]),
        batch_of(range(5, 10), magic=1, compression="gzip"),
        batch_of(range(10, 15), timestamp_type=1, log_append_time=12500),
        batch_of(range(15, 20), magic=0),
        batch_of(range(20, 25), [2**45] * 5),
    ]
    damaged = bytearray(batch_of(range(25, 30)))
    damaged[-1] ^= 1
    (folder / f"{0:020}.log").write_bytes(b"".join([*parts, damaged, batch_of(range(30, 35))]))
    return root


def at(seconds: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)


_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "offset": st.integers(-1, 62) | st.sampled_from([-(1 << 63), (1 << 63) - 1]),
    "timestamp": st.one_of(st.integers(-1, 62), st.just(12.5), st.floats(0, 62)).map(at),
    "partition": st.integers(-1, 2),
    "topic": st.sampled_from(["orders", "clicks", "ord", "s", ""]),
}
_COMPARISONS: dict[Any, Callable[[Any, Any], bool]] = {
    EqualTo: lambda a, b: a == b,
    GreaterThan: lambda a, b: a > b,
    GreaterThanOrEqual: lambda a, b: a >= b,
    LessThan: lambda a, b: a < b,
    LessThanOrEqual: lambda a, b: a <= b,
}
_TEXTS: dict[Any, Callable[[str, str], bool]] = {
    StringStartsWith: str.startswith,
    StringEndsWith: str.endswith,
    StringContains: str.__contains__,
}


@st.composite
def filters(draw: st.DrawFn) -> Filter:
    name = draw(st.sampled_from([*_VALUES]))
    kinds = [*_COMPARISONS, EqualNullSafe, In, IsNull, IsNotNull, *(_TEXTS if name == "topic" else ())]
    kind = draw(st.sampled_from(kinds))
    if kind in (IsNull, IsNotNull):
        found = kind((name,))
    elif kind is In:
        found = In((name,), tuple(draw(st.lists(_VALUES[name], min_size=1, max_size=3))))
    else:
        found = kind((name,), draw(_VALUES[name]))
    return Not(found) if draw(st.booleans()) else found


def is_so(found: Filter, row: dict[str, Any]) -> bool | None:
    if isinstance(found, Not):
        inner = is_so(found.child, row)
        return None if inner is None else not inner
    value = row[found.attribute[0]]  # type: ignore[attr-defined]  # each kind has one
    if isinstance(found, IsNull):
        return value is None
    if isinstance(found, IsNotNull):
        return value is not None
    if isinstance(found, EqualNullSafe):
        return bool(value == found.value)
    if value is None:
        return None
    if isinstance(found, In):
        return value in found.value
    compare = (_COMPARISONS | _TEXTS)[type(found)]
    return bool(compare(value, found.value))  # type: ignore[attr-defined]  # these kinds have one


@given(st.lists(filters(), min_size=1, max_size=3))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pushed_filters_select_the_same_rows_as_a_model(logs: Path, given_filters: list[Filter]) -> None:
    options = {"mode": "PERMISSIVE", "includeBatchMetadata": "true"}
    reader = reader_of(logs / "*", **options)
    assert list(reader.pushFilters(given_filters)) == []
    expected = [
        row for row in rows_of(reader_of(logs / "*", **options)) if all(is_so(each, row) for each in given_filters)
    ]
    assert rows_of(reader) == expected


def test_unsupported_filters_are_returned_to_spark(logs: Path) -> None:
    reader = reader_of(logs / "*", mode="PERMISSIVE")
    odd: list[Filter] = [
        EqualTo(("key",), b"k"),
        In(("offset",), (1, None)),
        EqualNullSafe(("offset",), None),
        EqualTo(("offset",), True),
        GreaterThan(("timestamp",), datetime(2026, 1, 1)),
        EqualTo(("corrupt", "position"), 7),
        Not(EqualTo(("value",), b"v")),
    ]
    taken = GreaterThan(("offset",), 3)
    left = list(reader.pushFilters([*odd, taken]))
    assert len(left) == len(odd)
    assert all(one is other for one, other in zip(left, odd, strict=True))


@pytest.mark.parametrize(
    ("pushed", "files", "batches"),
    [
        ([EqualTo(("topic",), "orders"), EqualTo(("partition",), 1)], 3, 12),
        ([EqualTo(("topic",), "orders"), GreaterThanOrEqual(("offset",), 44), LessThan(("offset",), 46)], 2, 4),
        ([EqualTo(("topic",), "orders"), In(("offset",), (3, 12))], 2, 6),
        ([EqualTo(("topic",), "orders"), GreaterThan(("timestamp",), at(54))], 6, 2),
        ([EqualTo(("topic",), "clicks"), LessThan(("timestamp",), at(12))], 1, 9),
        ([EqualTo(("topic",), "nothing")], 0, 0),
    ],
)
def test_pushed_filters_skip_files_and_batches(logs: Path, pushed: list[Filter], files: int, batches: int) -> None:
    reader = reader_of(logs / "*", mode="PERMISSIVE")
    reader.pushFilters(pushed)
    with counted() as work:
        rows_of(reader)
    assert (work.files, work.batches) == (files, batches)


def test_filters_are_combined_with_offset_options(logs: Path) -> None:
    reader = reader_of(logs / "orders-1", startingOffsets='{"orders":{"1":17}}', endingOffsets='{"orders":{"1":42}}')
    reader.pushFilters([GreaterThan(("offset",), 40), IsNotNull(("offset",))])
    with counted() as work:
        assert [row["offset"] for row in rows_of(reader)] == [41]
    assert (work.files, work.batches) == (1, 1)
    assert COUNT == 5


def test_pushdown_is_opt_in(logs: Path) -> None:
    assert type(plain_reader_of(logs / "*", mode="PERMISSIVE")).pushFilters is DataSourceReader.pushFilters


@pytest.fixture(params=["true", "false"])
def switched(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[bool]:
    spark.conf.set(ENABLED, request.param)
    yield request.param == "true"
    spark.conf.unset(ENABLED)


def test_filters_are_pushed_down_in_spark(
    spark: SparkSession, switched: bool, logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    register(spark)

    def rows(**options: str) -> DataFrame:
        return spark.read.format("kafka_log").options(mode="PERMISSIVE", **options).load(str(logs / "*"))

    def filtered() -> DataFrame:
        return rows(filterPushdown="true")

    assert filtered().where("topic = 'orders' AND partition = 1 AND offset BETWEEN 41 AND 43").count() == 3
    late = filtered().where("timestamp >= timestamp'1970-01-01 00:00:58Z' AND topic LIKE 'ord%' AND key IS NULL")
    assert sorted(late.select("offset", "partition").collect()) == [(58, 0), (58, 1), (59, 0), (59, 1)]
    assert filtered().where("offset IS NULL").count() == 1
    assert filtered().where("offset < 3 OR partition = 1").count() == 66
    assert filtered().count() == 151
    capsys.readouterr()
    filtered().where("offset > 41").explain()
    assert (" Filter (" not in capsys.readouterr().out) == switched  # Spark does not repeat accepted filters
    again = rows()
    assert again.where("offset > 57").count() == 4
    assert again.count() == 151
    kept = filtered()
    assert kept.where("offset > 57").count() == 4
    # Spark uses the filtered reader for all other queries of the DataFrame, so the option is false by default.
    assert kept.count() == (4 if switched else 151)
