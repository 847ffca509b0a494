"""Distinguish user errors from bugs."""

from __future__ import annotations

import re

from pyspark.errors import PySparkValueError

_SPARKS = re.compile(r"\[(?:DATA_SOURCE_NOT_FOUND|TABLE_OR_VIEW_ALREADY_EXISTS|DELTA_\w+|PATH_\w+)\] .*")
_OURS = re.compile(r"PySparkValueError: (.+)")
_STORES = re.compile(r"(?:org\.apache\.hadoop(?:\.\w+)+|java\.io|java\.nio\.file)\.(\w+Exception)\)?:? (.+)")
_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")


def message_of(error: Exception) -> str | None:
    if isinstance(error, PySparkValueError | OSError):
        return str(error)
    if found := _OURS.findall(str(error)):
        return str(found[-1])
    if found := _MODULE.findall(str(error)):
        return (
            f"the Python of Spark's workers has no module {found[-1]!r}: install numpy, pyarrow, "
            "pandas, kafka_messages, kafka_records and kafka_messages_spark there (PYSPARK_PYTHON, --archives, --py-files)"
        )
    # PySpark lacks classes for some of these errors.
    if planned := _SPARKS.search(str(error)):
        return planned[0]
    stored = _STORES.search(str(error))
    return f"{stored[1]}: {stored[2]}" if stored else None
