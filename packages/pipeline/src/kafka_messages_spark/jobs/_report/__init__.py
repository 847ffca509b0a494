"""Reports of jobs in all output formats."""

from kafka_messages_spark._charts.formatting import duration, format_path, format_value, size, timestamp

from ._json import made_by
from ._model import Formats, JobReport
from ._openmetrics import PREFIX, Gauge
from ._parts import JobFinding, JobRun, Severity

__all__ = [
    "PREFIX",
    "Formats",
    "Gauge",
    "JobFinding",
    "JobReport",
    "JobRun",
    "Severity",
    "duration",
    "format_path",
    "format_value",
    "made_by",
    "size",
    "timestamp",
]
