"""Shell commands and Python code that explain the bytes of a sample."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from kafka_protocol_pages.package import Package
from kafka_protocol_pages.samples import FramedSample


@dataclass(frozen=True)
class Recipe:
    label: str
    text: str


def recipes(package: Package, sample: FramedSample, has_records: bool) -> Iterator[Recipe]:
    option = " --records" if has_records else ""
    body = f"{package.command} explain {sample.name} {sample.version} {_word(sample.body)}{option}"
    if not sample.frame:
        yield Recipe("Command line", body)
        yield Recipe("Python", _body_in_python(package.name, sample, has_records))
        return
    subject = "" if sample.is_request else f"{sample.name} {sample.version} "
    yield Recipe("Command line", f"{package.command} explain {subject}--frame {_word(sample.frame)}{option}")
    yield Recipe("Command line, for the body alone", body)
    yield Recipe("Python", _frame_in_python(package.name, sample, has_records))


def _word(data: bytes) -> str:
    return data.hex() or "''"


def _body_in_python(package: str, sample: FramedSample, has_records: bool) -> str:
    name, version = sample.name, sample.version
    return (
        f"from {package} import {name}\nfrom {package}.explain import explain\n\n"
        f"data = bytes.fromhex({_literal(sample.body)})\n"
        f"print(explain(data, {name}, {version}{_also(has_records)}).text())\n"
        f"print({name}.read(data, {version}))"
    )


def _frame_in_python(package: str, sample: FramedSample, has_records: bool) -> str:
    side = "request" if sample.is_request else "response"
    which = "" if sample.is_request else f", {sample.name}, {sample.version}"
    message = "" if sample.is_request else f"from {package} import {sample.name}\n"
    return (
        f"{message}from {package}.explain import explain_{side}\nfrom {package}.protocol import decode_{side}\n\n"
        f"data = bytes.fromhex({_literal(sample.frame)})\n"
        f"print(explain_{side}(data{which}, framed=True{_also(has_records)}).text())\n"
        f"print(decode_{side}(data[4:]{which}).message)"
    )


def _also(has_records: bool) -> str:
    return ", records=True" if has_records else ""


def _literal(data: bytes) -> str:
    parts = [f'"{part}"' for part in textwrap.wrap(data.hex(), 100) or [""]]
    return parts[0] if len(parts) == 1 else "\n    " + "\n    ".join(parts) + "\n"
