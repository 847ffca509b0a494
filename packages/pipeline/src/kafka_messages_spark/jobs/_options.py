"""Options that several jobs have."""

from __future__ import annotations

import fnmatch
import os
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from pyspark.sql import Column
from pyspark.sql import functions as F

from kafka_messages_spark._core.errors import invalid_argument
from kafka_messages_spark.jobs._session import is_elsewhere
from kafka_messages_spark.sources._files import alternatives, display_path, is_path, matches

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def add_as_of(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--as-of", type=time, metavar="TIME", help="time that ages refer to; default: the newest record read"
    )


def add_topic(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--topic",
        action="append",
        dest="topics",
        metavar="NAME",
        help="only this topic; a name or pattern; may be repeated",
    )


def add_since(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--since", type=time, metavar="TIME", help="only rows at or after this time; state at the end is kept"
    )


def add_state(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--state", metavar="FOLDER", help="folder in which the job stores what it has read, to read only new data next"
    )


def add_incremental(parser: ArgumentParser) -> None:
    for add in (add_since, add_state, add_topic):
        add(parser)


def time(text: str) -> int:
    """Return a time in ISO 8601 (UTC without a zone) or in milliseconds as milliseconds since the epoch, rounded up."""
    if text.isdecimal():
        return int(text)
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(
            f"expected a time such as 2026-11-21T10:00:00Z, or milliseconds since the epoch, got {text!r}"
        ) from None
    since = (given if given.tzinfo else given.replace(tzinfo=UTC)) - _EPOCH
    return -(-since // timedelta(milliseconds=1))


def of_topics(patterns: Sequence[str] | None) -> Column:
    """Return whether the column ``topic`` matches one of the patterns of ``--topic``, or true without patterns."""
    if not patterns:
        return F.lit(True)
    each = (fnmatch.translate(one) for pattern in patterns for one in alternatives(pattern))
    return F.coalesce(F.col("topic").rlike(f"^(?:{'|'.join(each)})"), F.lit(False))


def check_state(owner: str, place: str, paths: Sequence[str]) -> None:
    """Raise PySparkValueError if state cannot be kept in a folder."""
    if is_elsewhere():
        raise invalid_argument(
            f"{owner}: --state is not supported on Spark Connect, whose client may not have the files"
        )
    folder = absolute(place)
    above = [folder]
    while (parent := os.path.dirname(above[-1])) != above[-1]:
        above.append(parent)
    for path in map(absolute, paths):
        if any(each == path or matches(each, path) for each in above):
            raise invalid_argument(f"{owner}: --state: {display_path(place)} is inside {display_path(path)}")


def absolute(place: str) -> str:
    return os.path.realpath(place) if is_path(place) else place.rstrip("/")
