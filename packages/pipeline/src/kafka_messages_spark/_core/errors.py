"""Errors with Spark's error classes and wording."""

from __future__ import annotations

from pyspark.errors import PySparkValueError

MODES = ("PERMISSIVE", "FAILFAST")


def invalid_argument(message: str) -> PySparkValueError:
    return PySparkValueError(message)


def unsupported_mode(name: str, mode: str) -> PySparkValueError:
    acceptable = " and ".join(MODES)
    return invalid_argument(
        f"[PARSE_MODE_UNSUPPORTED] The function `{name}` doesn't support the {mode} mode. "
        f"Acceptable modes are {acceptable}."
    )


def malformed_batch(cause: Exception) -> ValueError:
    return ValueError(
        "Malformed Kafka messages are detected in message deserialization. Parse Mode: FAILFAST. To process malformed "
        f"messages as null result, try setting the option 'mode' as 'PERMISSIVE'. In this Arrow batch, {cause}"
    )


def type_mismatch(function: str, place: str, required: str, found: object) -> TypeError:
    text = str(found)
    text = text if len(text) <= 60 else f"{text[:57]}..."
    return TypeError(
        f"[DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE] The {place} parameter of `{function}` requires the {required} type, "
        f"however it has the Arrow type {text}."
    )
