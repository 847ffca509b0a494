"""Reports of jobs in all output formats."""

from kafka_messages_spark._charts.formatting import duration, format_path, format_value, size, timestamp

from ._model import Formats, Report
from ._parts import Finding, JobRun, Severity

__all__ = [
    "Finding",
    "Formats",
    "JobRun",
    "Report",
    "Severity",
    "duration",
    "format_path",
    "format_value",
    "size",
    "timestamp",
]
