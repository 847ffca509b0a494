"""Native columns through the Arrow C data interface, without pyarrow."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from kafka_messages import OffsetCommitValue
from kafka_messages.arrow import decode

extension: Any = pytest.importorskip("kafka_messages_native._columns")
ROWS = [OffsetCommitValue(offset=number, metadata=f"host-{number}").write(3) for number in range(1000)]


class Columns:
    """Producer that returns the extension's capsules unchanged."""

    def __init__(self) -> None:
        plan = extension.plan(OffsetCommitValue._plan, False)
        self.capsules = extension.decode(plan, *pa.array(ROWS).__arrow_c_array__(), 3, 2, None, None)

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self.capsules


def test_polars_imports_the_capsules() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.Series("value", Columns()).struct.unnest()
    assert frame["offset"].to_list() == list(range(1000))
    assert frame["metadata"].to_list() == [f"host-{number}" for number in range(1000)]
    assert frame["topic_id"].null_count() == 1000


def test_duckdb_reads_the_columns() -> None:
    duckdb = pytest.importorskip("duckdb")
    table = pa.Table.from_struct_array(decode(pa.array(ROWS), OffsetCommitValue, 3))
    connection = duckdb.connect()
    connection.register("columns", table)
    found = connection.execute('select sum("offset"), max(metadata), count(topic_id) from columns').fetchone()
    assert found == (sum(range(1000)), "host-999", 0)
