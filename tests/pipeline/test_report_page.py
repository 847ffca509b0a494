"""HTML and JSON reports: escaping, charts and schema; without Spark."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from kafka_messages_spark._charts.document import document
from kafka_messages_spark._charts.model import Lane, Mark, Timeline
from kafka_messages_spark._charts.svg import figure
from kafka_messages_spark.jobs import JobFinding, JobReport, JobRun, parser
from kafka_messages_spark.jobs import run as run_job
from kafka_messages_spark.jobs._charts import groups, metadata, segments, transactions
from kafka_messages_spark.jobs._report._parts import Table, TableColumn

SCHEMA = json.loads(files("kafka_messages_spark.jobs").joinpath("_report/report.schema.json").read_text("utf-8"))
START = 1_790_000_000_000
EVIL = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)//",
    "\"><img src=x onerror='alert(1)'>",
    "'; alert(1); '",
    "]]><svg onload=alert(1)>",
    "javascript:alert(1)",
    "one\ntwo\r\x00\x1b[31m",
    "gnp.\u202egpj.exe\u2066\u2028",
    "&lt;b&gt;",
]
"""Names as a client could give them to a topic, a group or itself."""


def run(*findings: JobFinding, **arguments: object) -> JobRun:
    return JobRun("groups", arguments, findings, int(bool(findings)), datetime(2026, 11, 22, 10, 30, tzinfo=UTC))


def pictures(name: str) -> list[Any]:
    row = {"topic": name, "partition": 0, "producer_id": 7, "last_offset": 9, "records": 3, "start": START}
    opened = row | {"status": "open", "first_offset": 5, "marker_offset": None, "end": None}
    done = row | {"status": "committed", "first_offset": 1, "marker_offset": 4, "end": START + 900}
    judged = {**opened, "verdict": "hanging", "transactional_id": name}
    waits = {"topic": name, "partition": 0, "last_stable_offset": 5, "next_offset": 12, "blocked_offsets": 7}
    change = {"offset": 1, "time": START, "entity": name, "name": name, "change": "added"}
    file = {"file": f"{name}/0.log", "size": 5, "verdict": "error"}
    commits = [Row(name, name, 0, at=START, value=1), Row(name, name, 0, at=START + 50, value=4)]
    commits += [Row(name, name, 1, at=START + 20, value=2), Row(name, name, 1, at=START + 60, value=None)]
    reset = Row(name, name, 0, at=START + 50, committed_offset=4, kind="backward")
    return [
        transactions.timeline([opened, done], [judged], [waits], 2, START + 2000),
        metadata.timeline([change], 1),
        segments.bars([file, file | {"size": 10**9}], [(file["file"], "error", [name])], 2),
        groups.chart([(name, name)], commits, [Row(name, 0, at=START, value=9)], [reset], (1, 1), START + 90),
    ]


class Row(tuple[Any, ...]):
    named: dict[str, Any]

    def __new__(cls, *first: Any, **named: Any) -> Row:
        made = super().__new__(cls, (*first, *named.values()))
        made.named = named
        return made

    def __getitem__(self, key: Any) -> Any:
        return self.named[key] if isinstance(key, str) else super().__getitem__(key)


def report(name: str) -> JobReport:
    made = JobReport(name)
    made.facts({name: name, "left out": [name]})
    made.section(name)
    made.line(name)
    for each in pictures(name):
        made.picture(each)
    made.table([name, "lag"], [[name, 3], [None, None]], 7)
    return made


class Elements(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("name", EVIL, ids=range(len(EVIL)))
def test_names_are_escaped(name: str) -> None:
    evil = report(name).html(run(JobFinding(name, "error", 1), paths=[name]))
    plain = report("name").html(run(JobFinding("name", "error", 1), paths=["name"]))
    shape, expected = (
        [
            (tag, sorted(attributes.keys() - {"class"})) for tag, attributes in Elements(page).found
        ]  # long words have a class
        for page in (evil, plain)
    )
    assert shape == expected
    assert not re.search("[\x00-\x09\x0b-\x1f\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]", evil)
    assert sum(text.count("<b>") for text in Elements(report("<b>").html(run())).texts) > 10


def test_page_loads_no_external_resources() -> None:
    page = report("orders").html(run(JobFinding("reset", "warning", 2)))
    elements = Elements(page).found
    assert {name for _, attributes in elements for name in attributes} & {"src", "href", "style", "onclick"} == set()
    assert {tag for tag, _ in elements} & {"link", "img", "iframe", "object", "base", "form", "use", "a"} == set()
    assert "url(" not in page
    assert "@import" not in page
    policy = next(each["content"] for tag, each in elements if tag == "meta" and "http-equiv" in each)
    assert policy is not None
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[\w+/=]{44}'; script-src 'sha256-[\w+/=]{44}'; base-uri 'none'", policy
    )


@pytest.mark.parametrize("number", range(4))
def test_charts_are_valid_svg(number: int) -> None:
    drawn = figure(pictures("orders")[number])
    root = ElementTree.fromstring(drawn)
    assert root.find("figcaption") is not None
    assert all(each.get("aria-label") for each in root.iter("svg") if each.get("role") == "img")
    numbers = [value for each in root.iter() for name, value in each.items() if name in ("x", "y", "width", "height")]
    assert len(numbers) > 4
    assert all(float(value) >= 0 for value in numbers)
    assert "nan" not in drawn


def test_charts_are_stacked_in_one_svg_file() -> None:
    file = document("All <of> them", pictures("<b>"))
    root = ElementTree.fromstring(file)
    assert root.get("aria-label") == "All <of> them"
    groups_ = [each for each in root if each.get("transform", "").startswith("translate(0,")]
    tops = [float(each.attrib["transform"][12:-1]) for each in groups_]
    assert len(tops) == len(pictures("<b>"))
    assert tops == sorted(tops)
    assert float(root.attrib["viewBox"].split()[3]) > tops[-1] + 20
    lines = [each.text or "" for each in root if each.get("class") == "tick"]
    assert max(map(len, lines)) <= 140
    assert " ".join(lines) == " ".join(each.remark for each in pictures("<b>") if each.remark)
    assert "var(" not in file
    assert file.count("@media (prefers-color-scheme: dark)") == 1


def test_blocking_transaction_is_marked() -> None:
    row = {"topic": "t", "partition": 1, "producer_id": 7, "status": "open", "records": 1, "end": None}
    rows = [
        row | {"first_offset": first, "last_offset": first, "marker_offset": None, "start": START + first}
        for first in (9, 5)
    ]
    waits = {"topic": "t", "partition": 1, "last_stable_offset": 5, "next_offset": 12, "blocked_offsets": 7}
    lane = transactions.timeline(rows, [], [waits], 2, START + 100).lanes[0]
    assert lane.name == "t-1"
    assert [(mark.kind, mark.text, mark.end) for mark in lane.marks] == [
        (transactions.OPEN, "", None),
        (transactions.BLOCKS, "open: last stable offset 5, 7 blocked offsets", None),
    ]


def test_labels_do_not_overlap_names() -> None:
    text = "hanging: last stable offset 212, 472 blocked offsets"
    long = "hanging: last stable offset 9,223,372,036,854,775,807, 1,234,567,890 blocked offsets"
    until = START + 1000
    for words in (text, long, "x" * 500):
        for start in range(START, until, 50):
            for end in (None, until - 100):
                mark = Mark(start, end if end is None or end >= start else start, "open", "note", words)
                drawn = figure(Timeline("t", {"open": "bad"}, [Lane("pay.in-1-0", [mark])], "", until))
                (label,) = (
                    each for each in ElementTree.fromstring(drawn).iter("text") if "beside" in each.get("class", "")
                )
                width = len(label.text or "") * 7.2
                left = float(label.get("x", "")) - (width if label.get("text-anchor") == "end" else 0)
                assert left >= 205, (words, start, end)
                assert left + width <= 1000, (words, start, end)
                assert words == "x" * 500 or label.text == words


def test_lag_changes_with_commits_and_log_ends() -> None:
    commits = [Row("g", "t", 0, at=10, value=1), Row("g", "t", 0, at=30, value=8), Row("g", "t", 0, at=35, value=None)]
    ends = [Row("t", 0, at=5, value=4), Row("t", 0, at=20, value=7)]
    offsets, lag = groups.chart([("g", "t")], commits, ends, [], (1, 1), 40).rows[0]
    assert [each.name for each in offsets.series] == ["end of t-0", "partition 0"]
    assert [each.points for each in lag.series] == [[(5, None), (10, 3), (20, 6), (30, 0), (35, None)]]


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (105_234_100, 105_234_900, ["105,234,200", "105,234,400", "105,234,600", "105,234,800"]),
        (1_200_000, 1_450_000, ["1.2M", "1.3M", "1.4M"]),
        ((1 << 63) - 60, (1 << 63) - 1, [f"9,223,372,036,854,775,7{each}" for each in (60, 80)]),
    ],
    ids=["near each other", "apart", "the largest"],
)
def test_axis_labels_are_distinct(low: int, high: int, words: list[str]) -> None:
    commits = [Row("g", "t", 0, at=10, value=low), Row("g", "t", 0, at=30, value=high)]
    drawn = ElementTree.fromstring(figure(groups.chart([("g", "t")], commits, [], [], (1, 1), 40)))
    beside = [each for each in drawn.iter("text") if each.get("class") == "tick" and each.get("text-anchor") == "end"]
    assert [each.text for each in beside][: len(words)] == words
    assert min(float(each.attrib["x"]) for each in beside) > 6.8 * max(map(len, words))  # no label is cut off


@pytest.mark.parametrize("span", [150, 4000, 7_200_000, 2 * 86_400_000, 400 * 86_400_000])
def test_time_labels_do_not_overlap(span: int) -> None:
    midnight = START - START % 86_400_000 - span // 2
    commits = [Row("g", "t", 0, at=midnight + span * part // 9, value=part) for part in range(10)]
    for rows, ends in (([], 1), ([Row("t", 0, at=midnight, value=9)], 2)):
        drawn = figure(groups.chart([("g", "t")], commits, rows, [], (1, 1), midnight + span))
        labels = [each for each in ElementTree.fromstring(drawn).iter("text") if each.get("text-anchor") == "middle"]
        places = [(float(each.attrib["x"]), len(each.text or "") * 6.8 / 2) for each in labels]
        assert len(places) >= ends
        assert all(half <= x + 0.1 and x + half <= 1000.1 for x, half in places)
        assert all(x + half < y - other for (x, half), (y, other) in pairwise(places))


def test_chart_remarks_mention_omissions() -> None:
    change = {"offset": 1, "time": START, "entity": "topic", "name": "t", "change": "added"}
    assert metadata.timeline([change], 1).remark == ""
    assert metadata.timeline([change] * 2, 900).remark == "Shows the last 2 of 900 changes."
    many = metadata.timeline([change] * 70 + [change | {"time": START + 5, "name": "last"}], 71)
    assert [mark.text for mark in many.lanes[0].marks] == ["70", ""]
    assert many.lanes[0].marks[0].note == (
        f"added · {', '.join('t' * 12)} and 58 more · 2026-09-21 14:13:20.000Z · offset 1"
    )
    assert "have no room" not in figure(metadata.timeline([change] * 12, 12))
    assert "3 more not shown" in figure(metadata.timeline([change] * 15, 15))
    file = {"file": "logs/t-0/0.log", "size": 5, "verdict": "ok"}
    assert segments.bars([file], [], 1).remark == ""
    assert segments.bars([file], [], 70).remark == (
        "Shows 1 of 70 files: files with findings by severity, then the largest."
    )
    assert transactions.timeline([], [], [], 3, None).remark.endswith(
        "Shows 0 of 3 transactions, counted once per partition: open ones, then the newest."
    )
    remark = groups.chart([("g", "t")], [Row("g", "t", 0, at=1, value=1)], [], [], (20, 50), 9).remark
    assert "Shows 1 of 20 pairs of group and topic, by resets, then by lag." in remark
    assert "Shows 1 of 50 partitions, at most 6 per group and topic." in remark


def test_small_bars_have_a_minimum_width() -> None:
    file = {"file": "a/0.log", "size": 100, "verdict": "ok"}
    drawn = figure(segments.bars([file, {"file": "a/1.log", "size": 10**8, "verdict": "ok"}], [], 2))
    widths = [float(each.get("width", 0)) for each in ElementTree.fromstring(drawn).iter("rect")]
    assert min(widths) > 10
    assert "bytes, logarithmic" in drawn


def typed() -> JobReport:
    made = JobReport("What")
    made.facts({"groups": 8, "log": "2 partitions"})
    made.section("Rows")
    made.line("A text")
    columns = [
        *(
            TableColumn("group"),
            TableColumn("lag", "integer", right=True),
            TableColumn("share", "number"),
            TableColumn("removed", "boolean"),
        ),
        *(
            TableColumn("time", "timestamp", lambda time: "-" if time < 0 else f"{time} ms"),
            TableColumn("key", "bytes"),
            TableColumn("hosts", "list"),
        ),
        TableColumn("age", "integer", right=True, unit="ms"),
    ]
    rows: list[list[Any]] = [
        ["a|\u202eb" * 100, 2**63 - 1, 0.25, True, 1_795_000_000_123, b"\x00\xff", ["x", None], 5],
        [None, None, float("nan"), None, -1, None, None, None],
        ["c", 0, 1.0, False, 10**17, b"", [], 0],
    ]
    made.parts.append(Table(columns, rows, 4))
    made.figures = {"groups": 8, "share": 0.5}
    return made


def test_json_report_is_valid_against_its_schema() -> None:
    written = typed().json(run(JobFinding("reset", "warning", 2), paths=["logs"], width=None))
    content = json.loads(written)
    Draft202012Validator.check_schema(SCHEMA)
    Draft202012Validator(SCHEMA, format_checker=FormatChecker()).validate(content)
    assert written.isascii()
    assert content["findings"] == [{"kind": "reset", "severity": "warning", "count": 2}]
    assert (content["exit_status"], content["created"]) == (1, "2026-11-22T10:30:00.000Z")
    assert content["inputs"] == {"paths": ["logs"], "width": None}
    assert content["figures"] == {"groups": 8, "share": 0.5}
    first, rows = content["sections"]
    assert first["facts"] == [{"name": "groups", "value": 8}, {"name": "log", "value": "2 partitions"}]
    assert (first["title"], rows["title"], rows["texts"]) == (None, "Rows", ["A text"])
    table = rows["tables"][0]
    assert table["columns"][-1] == {"name": "age", "type": "integer", "unit": "ms"}
    assert table["more"] == 4
    assert list(table["rows"][0].values()) == [
        *("a|\u202eb" * 100, 2**63 - 1, 0.25, True, "2026-11-18T11:06:40.123Z", "00ff", ["x", None], 5),
    ]
    assert list(table["rows"][1].values()) == [None, None, "nan", None, None, None, None, None]
    assert table["rows"][2]["time"] == "100000000000000000 ms"


def test_json_schema_rejects_invalid_reports() -> None:
    content = json.loads(typed().json(run(JobFinding("reset", "warning", 2))))
    validator = Draft202012Validator(SCHEMA)
    changes: list[dict[str, Any]] = [
        {"finding": []},
        {"exit_status": 2},
        {"findings": [{"kind": "x", "severity": "bad", "count": 1}]},
    ]
    for change in changes:
        assert not validator.is_valid(content | change)
    assert not validator.is_valid({name: value for name, value in content.items() if name != "figures"})


def test_only_html_has_charts() -> None:
    with_pictures, without = report("orders"), report("orders")
    without.parts = [each for each in without.parts if each not in pictures("orders")]
    assert len(without.parts) < len(with_pictures.parts)
    assert with_pictures.text() == without.text()
    assert with_pictures.markdown() == without.markdown()
    assert json.loads(with_pictures.json(run())) == json.loads(without.json(run()))


def test_cells_have_sort_keys() -> None:
    page = typed().html(run())
    cells = [each for tag, each in Elements(page).found if tag == "td"]
    assert [each.get("data-value") for each in cells[8:16]] == [None] * 8
    assert [each.get("data-value") for each in cells[16:24]] == [None, "0", "1.0", None, None, None, None, "0"]
    assert "... and 4 more" in page


def test_inputs_have_no_credentials(tmp_path: Path) -> None:
    place = tmp_path / "report.json"
    arguments = parser("groups", "")
    arguments.add_argument("paths", nargs="+")
    given = ["s3://key:secret@bucket/logs?token=x", "--output", "s3://key:secret@bucket/out", "--report", str(place)]
    assert run_job("Groups", arguments, given, lambda job: None) == 0
    inputs = json.loads(place.read_text())["inputs"]
    assert (inputs["paths"], inputs["output"]) == (["s3://bucket/logs"], "s3://bucket/out")
    assert "secret" not in place.read_text()
