"""The page about benchmarks, its chart, and the length of the README."""

from __future__ import annotations

import re
import runpy

from tests.support import pages

PAGE = "docs/benchmarks.md"


def test_speed_chart_equals_the_tables_of_the_page() -> None:
    names = runpy.run_path(str(pages.ROOT / "benchmarks/speed_chart.py"))
    assert names["chart"](pages.text(PAGE)) == pages.text("docs/img/speed.svg")
    ratios = names["ratios"](pages.text(PAGE))
    assert {name: [len(values) for values in bars] for name, bars in ratios.items()} == {
        "native": [7, 7, 7, 7],
        "pure": [7, 7, 7, 7],
    }


def test_page_lists_every_benchmark_workload() -> None:
    workloads = runpy.run_path(str(pages.ROOT / "benchmarks/workloads.py"))["WORKLOADS"]
    rows = re.findall(r"^\| (W\d) \| (\w+ v\d+) \| ([\d,]+) \| (.+) \|$", pages.text(PAGE), re.MULTILINE)
    assert [(key, message, size, contents.replace("1,000", "1000")) for key, message, size, contents in rows] == [
        (key, f"{each.message} v{each.version}", f"{each.size:,}", each.contents) for key, each in workloads.items()
    ]


def test_readme_has_at_most_150_lines() -> None:
    assert pages.text("README.md").count("\n") <= 150
