"""Measure size and speed of a metadata response with the integer encodings in docs/protocol/encodings.md.

    python benchmarks/encodings.py [--quick] [--samples N] [--output FILE] [--plots FOLDER]

The response is coded by the schema codec (Struct in the proposal) and by generated classes (Buffer). Ratios are medians
of rounds, relative to the fixed encoding.
"""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import encoded_metadata as metadata
from codec import Case, Operation
from encoded_metadata import ALL_CONTENTS, FORMS, VERSION, Contents
from encodings_report import COLUMNS, Conditions, Result, Series, render
from peer_worker import Loaded, freeze, python_version
from rounds import in_turns


def load(contents: Contents) -> dict[tuple[str, str], Loaded]:
    loaded = {}
    for form in FORMS:
        message, cls = metadata.build(form, contents), metadata.message_class(form)
        schema, data = cls.schemas()[VERSION], message.write(VERSION)
        buffer = Case(message, f"message = cls.read(data, {VERSION})", f"data = message.write({VERSION})", {"cls": cls})
        struct = Case(
            schema.read(data)[0],
            "message = schema.read(data)[0]",
            "data = bytearray(); schema.write(data, message)",
            {"schema": schema},
        )
        for codec, case in (("Struct", struct), ("Buffer", buffer)):
            each = loaded[codec, form] = Loaded(case)
            if not data == each.data == each.again or len(data) != message.size(VERSION):
                raise SystemExit(f"{codec}, {form}, {contents.name}: not the bytes or the size of the generated class")
    return loaded


def measure(
    loaded: Mapping[tuple[str, str], Loaded], samples: int, seconds: float
) -> dict[tuple[str, Operation], Series]:
    series = {}
    for codec, operation in COLUMNS:
        subjects = {form: partial(loaded[codec, form].time, operation) for form in FORMS}
        series[codec, operation] = Series(in_turns(subjects, samples, seconds))
    return series


def parse(argv: Sequence[str] | None = None) -> Namespace:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--samples", type=int, help="rounds per encoding and operation (default 21, quick 5)")
    parser.add_argument("--quick", action="store_true", help="short run: 10 ms samples instead of 40 ms, and fewer")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report there too")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="draw the report there")
    arguments = parser.parse_args(argv)
    arguments.samples = arguments.samples or (5 if arguments.quick else 21)
    arguments.seconds = 0.010 if arguments.quick else 0.040
    return arguments


def main() -> None:
    arguments = parse()
    metadata.use_package()
    loaded = {contents: load(contents) for contents in ALL_CONTENTS}
    freeze()
    results = []
    for contents in ALL_CONTENTS:
        print(f"measuring {contents.name} numbers", file=sys.stderr)
        sizes = {form: len(loaded[contents]["Buffer", form].data) for form in FORMS}
        results.append(Result(contents, sizes, measure(loaded[contents], arguments.samples, arguments.seconds)))
    conditions = Conditions(
        command=shlex.join(["python", "benchmarks/encodings.py", *sys.argv[1:]]),
        python=python_version(),
        samples=arguments.samples,
        milliseconds=round(arguments.seconds * 1000),
    )
    text = render(conditions, results)
    print(text)
    if arguments.output:
        arguments.output.write_text(text + "\n", encoding="utf-8")
    if arguments.plots:
        import plots

        plots.draw(arguments.plots, results)


if __name__ == "__main__":
    main()
