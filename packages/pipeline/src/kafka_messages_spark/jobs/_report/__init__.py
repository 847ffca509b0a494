"""Reports of the jobs: one model of sections, tables and pictures, and what is printed of it."""

from kafka_messages_spark._charts.words import duration, place, shown, size, timestamp

from ._model import Formats, Report
from ._parts import Finding, Run, Severity

__all__ = ["Finding", "Formats", "Report", "Run", "Severity", "duration", "place", "shown", "size", "timestamp"]
