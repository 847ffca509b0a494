"""The report about the impact of a release: replayed on past releases, and on definitions of our own."""

from __future__ import annotations

import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kafka_message_generator.compat.definition_sets import baseline, set_of_release
from kafka_message_generator.compat.history_page import impact_page
from kafka_message_generator.compat.impact import ImpactItem, ImpactReport, ImpactSection, impact
from kafka_message_generator.compat.impact_texts import as_html, as_text
from kafka_message_generator.compat.signatures import signature_of
from kafka_message_generator.definitions import set_of_folder
from kafka_message_generator.plan.model import ranges
from kafka_message_generator.spec.model import COORDINATOR_KEY, HEADER, REQUEST, RESPONSE
from tests.support.compat_command import run
from tests.support.pages import ROOT

HISTORY = ROOT / "specs" / "history"
STEPS = [("2.8.0", "3.0.0"), ("3.0.0", "3.1.0"), ("4.0.0", "4.1.0"), ("4.1.0", "4.2.0"), ("4.3.0", "4.4.0")]


@cache
def replayed(before: str, release: str) -> ImpactReport:
    old = set_of_release(HISTORY, before)
    return impact(baseline(old.name, [old]), set_of_release(HISTORY, release))


def items(report: ImpactReport, title: str) -> dict[str, str]:
    (section,) = (each for each in report.sections if each.title == title)
    return {item.place: item.what for item in section.items}


TOPICS_BY_ID = [
    ("3.0.0", "3.1.0", "FetchRequest 13", "Topics[].TopicId instead of Topics[].Topic"),
    ("3.0.0", "3.1.0", "FetchResponse 13", "Responses[].TopicId instead of Responses[].Topic"),
    ("4.0.0", "4.1.0", "ProduceRequest 13", "TopicData[].TopicId instead of TopicData[].Name"),
    ("4.0.0", "4.1.0", "ProduceResponse 13", "Responses[].TopicId instead of Responses[].Name"),
    ("4.1.0", "4.2.0", "OffsetCommitRequest 10", "Topics[].TopicId instead of Topics[].Name"),
    ("4.1.0", "4.2.0", "OffsetCommitResponse 10", "Topics[].TopicId instead of Topics[].Name"),
    ("4.3.0", "4.4.0", "TxnOffsetCommitRequest 6", "Topics[].TopicId instead of Topics[].Name"),
]


@pytest.mark.parametrize(("before", "release", "place", "fields"), TOPICS_BY_ID, ids=[each[2] for each in TOPICS_BY_ID])
def test_version_with_topic_ids_is_reported_to_proxies_but_not_to_clients(
    before: str, release: str, place: str, fields: str
) -> None:
    """Clients of the old release do not use the new version; even a readable one changes rules by topic name."""
    report = replayed(before, release)
    first, note = ("stable now", f"; unstable in Kafka {before}") if release == "4.2.0" else ("unknown version", "")
    if place == "FetchRequest 13":
        fields += ", ForgottenTopicsData[].TopicId instead of ForgottenTopicsData[].Topic"
    mapping = "rules by topic name need a mapping of ids to names"
    assert items(report, "Proxies")[place] == f"{first}; topics by id: {fields}; {mapping}{note}"
    assert place not in items(report, "Clients")


def test_unstable_version_that_became_stable_is_reported_only_if_its_layout_changed() -> None:
    proxies = items(replayed("4.0.0", "4.1.0"), "Proxies")
    assert "ReadShareGroupStateRequest 0" not in proxies
    assert proxies["ReadShareGroupStateSummaryResponse 0"] == "another layout; unstable in Kafka 4.0.0"
    assert proxies["ShareFetchRequest 1"] == "unknown version; version 0 was unstable in Kafka 4.0.0"


def test_change_is_reported_to_the_programs_that_meet_its_bytes(tmp_path: Path) -> None:
    """Clients write requests and read responses, proxies read both; the other direction cannot break them."""

    def side(name: str, kind: str, nullable: bool, folder: str) -> None:
        text = {"name": "Topic", "type": "string", "versions": "0+", **({"nullableVersions": "0+"} if nullable else {})}
        message = {"apiKey": 1, "type": kind, "name": name, "validVersions": "0", "flexibleVersions": "none"}
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / f"{name}.json").write_text(json.dumps({**message, "fields": [text]}), encoding="utf-8")

    def reported(request: bool, response: bool) -> dict[str, dict[str, str]]:
        for folder, is_new in (("old", False), ("new", True)):
            side("AskRequest", "request", request == is_new, folder)
            side("AskResponse", "response", response == is_new, folder)
        old, new = (set_of_folder(tmp_path / each) for each in ("old", "new"))
        report = impact(baseline(old.name, [old]), new)
        sections = {each.title: each for each in report.sections if each.title in ("Clients", "Proxies")}
        return {title: {item.place: item.outcome for item in each.items} for title, each in sections.items()}

    outcome = "topic: unexpected null at offset 0 in this version"
    assert reported(request=True, response=False) == {
        "Clients": {},
        "Proxies": {"AskRequest 0 Topic": f"the old decoder fails: {outcome}"},
    }
    assert reported(request=False, response=True) == {
        "Clients": {
            "AskRequest 0 Topic": f"bytes of the old release: the new decoder fails: {outcome}",
            "AskResponse 0 Topic": f"the old decoder fails: {outcome}",
        },
        "Proxies": {"AskResponse 0 Topic": f"the old decoder fails: {outcome}"},
    }


def reported(folder: Path, name: str, kind: str, old: list[str], new: list[str]) -> ImpactReport:
    """Return the impact of one message with fields that change from ``old`` to ``new``."""
    for side, fields in (("old", old), ("new", new)):
        write(folder / side, {name: definition(name, kind, "1", *fields).replace('"flexibleVersions": "0+"', NO_TAGS)})
    before, after = (set_of_folder(folder / side) for side in ("old", "new"))
    return impact(baseline(before.name, [before]), after)


NO_TAGS = '"flexibleVersions": "none"'


@pytest.mark.parametrize("is_written", [True, False])
def test_clients_write_the_request_header(is_written: bool, tmp_path: Path) -> None:
    client = '{ "name": "ClientId", "type": "string", "versions": "1+"%s }'
    texts = [client % "", client % ', "nullableVersions": "1+"']
    old, new = texts[::-1] if is_written else texts
    report = reported(tmp_path, "RequestHeader", "header", [*HEADERS[:3], old], [*HEADERS[:3], new])
    lost = {"RequestHeader 1 ClientId": "was ClientId: string?; is ClientId: string"}
    got = {"RequestHeader 1 ClientId": "was ClientId: string; is ClientId: string?"}
    assert items(report, "Clients") == (lost if is_written else {})
    assert items(report, "Proxies") == ({} if is_written else got)


def test_each_program_gets_the_field_that_breaks_it(tmp_path: Path) -> None:
    sides = [BETA.replace("Beta", name) for name in "XZ"], [BETA.replace("Beta", name) for name in "XZ"]
    for side, number in zip(sides, (1, 0), strict=True):
        side[number] = side[number].replace(" }", ', "nullableVersions": "0+" }')
    for name, kind, place in (("AskRequest", "request", "Z"), ("AskResponse", "response", "X")):
        report = reported(tmp_path / kind, name, kind, *sides)
        texts = {"X": "was X: string; is X: string?", "Z": "was Z: string?; is Z: string"}
        assert items(report, "New and changed") == {f"{name} 1 {field}": text for field, text in texts.items()}
        assert items(report, "No change on the wire") == {}
        assert items(report, "Clients") == {f"{name} 1 {place}": texts[place]}
        assert items(report, "Proxies") == {f"{name} 1 X": texts["X"]}


def test_versions_in_which_other_programs_break_are_not_merged(tmp_path: Path) -> None:
    """Both versions break the new decoder at Z, but only version 2 breaks the old one, at X."""
    fields = [BETA.replace("Beta", name).replace(" }", ', "nullableVersions": "%s" }') for name in "XZ"]
    for side, x, z in (("old", "none", "1+"), ("new", "2+", "none")):
        text = definition("AskResponse", "response", "1-2", fields[0] % x, fields[1] % z)
        write(tmp_path / side, {"AskResponse": text.replace('"flexibleVersions": "0+"', NO_TAGS)})
    before, after = (set_of_folder(tmp_path / side) for side in ("old", "new"))
    found = items(impact(baseline(before.name, [before]), after), "Clients")
    assert found == {"AskResponse 2 X": "was X: string; is X: string?"}


def test_new_tagged_fields_are_not_reported_to_clients() -> None:
    assert not any("tagged" in what for step in STEPS for what in items(replayed(*step), "Clients").values())


def test_tagged_topic_id_of_committed_offsets_is_reported_to_log_readers() -> None:
    assert items(replayed("4.0.0", "4.1.0"), "Log readers")["OffsetCommitValue 4"] == (
        "new tagged fields topicId (tag 0): skipped as unknown"
    )


def test_changed_metadata_records_are_reported_with_bytes_that_old_readers_reject() -> None:
    (section,) = (each for each in replayed("2.8.0", "3.0.0").sections if each.title == "Log readers")
    record = next(item for item in section.items if item.place == "TopicRecord 0 Name")
    assert record == ImpactItem(
        "TopicRecord 0 Name",
        "was Name: string; is Name: compact string",
        b"\x01" + bytes(17),
        "the old decoder fails: name: STRING: 256 bytes needed at offset 2, 16 left",
    )


@pytest.mark.parametrize(("before", "release"), STEPS)
def test_every_record_version_that_old_readers_lack_is_listed(before: str, release: str) -> None:
    old, new = (set_of_release(HISTORY, name) for name in (before, release))
    lacking = set()
    for name, plan in new.plans.items():
        kind, was = new.messages[name].kind, old.plans.get(name)
        if kind in (REQUEST, RESPONSE, HEADER):
            continue
        if kind == COORDINATOR_KEY and was is not None and old.messages[name].kind != kind:
            # Up to Kafka 4.0, the version of a record key was its record type.
            assert signature_of(was, was.valid.highest) == signature_of(plan, plan.valid.highest), name
            continue
        known = () if was is None else tuple(was.valid)
        lacking |= {f"{name} {version}" for version in plan.valid if version not in known}
    found = items(replayed(before, release), "Log readers")
    assert lacking <= found.keys() | set(found.get("new messages", "").removeprefix("unknown: ").split(", "))
    text = as_text(replayed(before, release))
    assert "The definitions do not say when brokers begin to write a version" in text


@pytest.mark.parametrize(("before", "release"), STEPS)
def test_every_removed_version_is_listed(before: str, release: str) -> None:
    old, new = (set_of_release(HISTORY, name) for name in (before, release))
    text = as_text(replayed(before, release))
    for name, plan in old.plans.items():
        left = new.plans[name].valid if name in new.plans else ()
        gone = [version for version in plan.valid if version not in left]
        if gone and name in new.plans and old.messages[name].kind == new.messages[name].kind:
            assert f"  {name} {ranges(gone)}: removed" in text


def test_impact_page_is_up_to_date() -> None:
    assert (ROOT / "docs" / "impact.md").read_text(encoding="utf-8") == impact_page(HISTORY)


def test_step_of_the_impact_page_shows_at_most_60_lines() -> None:
    for step in (ROOT / "docs" / "impact.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        shown = re.sub(r"<details>.*?</details>", "", step, flags=re.DOTALL)
        assert len(shown.splitlines()) <= 60, step[:20]


def definition(name: str, kind: str, valid: str, *fields: str, more: str = "", about: str = "") -> str:
    about = f'"about": "{about}", ' if about else ""
    head = f'"type": "{kind}", "name": "{name}", "validVersions": "{valid}", "flexibleVersions": "0+", {about}{more}'
    return "{ " + head + '"fields": [\n  ' + ",\n  ".join(fields) + "\n] }\n"


ID = '{ "name": "RequestApiKey", "type": "int16", "versions": "0+" }'
HEADERS = [
    ID,
    ID.replace("ApiKey", "ApiVersion"),
    '{ "name": "CorrelationId", "type": "int32", "versions": "0+" }',
    '{ "name": "ClientId", "type": "string", "versions": "1+", "nullableVersions": "1+", "flexibleVersions": "none" }',
]
INSTANCE = '{ "name": "ClientInstanceId", "type": "uuid", "versions": "3+" }'
ALPHA = '{ "name": "Alpha", "type": "int32", "versions": "0+"%s }'
BETA = '{ "name": "Beta", "type": "string", "versions": "0+" }'
GAMMA = '{ "name": "Gamma", "type": "int8", "versions": "1+", "tag": 0, "taggedVersions": "1+", "ignorable": true }'
KEY = '"apiKey": 7, '
LISTENERS = '"listeners": ["broker"], '
OLD = {
    "RequestHeader": definition("RequestHeader", "header", "1-2", *HEADERS).replace('"0+", "fields"', '"2+", "fields"'),
    "ResponseHeader": definition("ResponseHeader", "header", "0-1", HEADERS[2]).replace(
        '"0+", "fields"', '"1+", "fields"'
    ),
    "AskRequest": definition(
        "AskRequest",
        "request",
        "0-2",
        ALPHA % ', "about": "A digit."',
        BETA,
        more=KEY + LISTENERS,
        about="Asks for it.",
    ),
    "AskResponse": definition("AskResponse", "response", "0-2", ALPHA % "", more=KEY),
    "ByeRequest": definition("ByeRequest", "request", "0", BETA, more='"apiKey": 8, '),
    "ByeResponse": definition("ByeResponse", "response", "0", BETA, more='"apiKey": 8, '),
    "SumValue": definition("SumValue", "coordinator-value", "0-1", ALPHA % "", more='"apiKey": 1, '),
}
NEW = {
    "RequestHeader": OLD["RequestHeader"].replace('"1-2"', '"1-3"').replace("\n] }", f",\n  {INSTANCE}\n] }}"),
    "ResponseHeader": OLD["ResponseHeader"],
    "AskRequest": definition(
        "AskRequest",
        "request",
        "1-3",
        ALPHA % ', "about": "A number."',
        BETA.replace("0+", "0-2"),
        '{ "name": "Delta", "type": "uuid", "versions": "3+" }',
        more=f'{KEY}{LISTENERS}"headerVersions": {{ "0-2": 2, "3+": 3 }}, ',
        about="Asks.",
    ),
    "AskResponse": definition("AskResponse", "response", "1-3", ALPHA % "", more=KEY),
    "SumValue": definition("SumValue", "coordinator-value", "0-2", ALPHA % "", GAMMA, more='"apiKey": 1, ').replace(
        "\n] }", ',\n  { "name": "Zeta", "type": "int8", "versions": "2+" }\n] }'
    ),
    "SumKey": definition("SumKey", "coordinator-key", "0", BETA, more='"apiKey": 1, ').replace(
        '"0+", "apiKey"', '"none", "apiKey"'
    ),
}


def write(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def sides(tmp_path: Path) -> tuple[str, str]:
    return str(write(tmp_path / "old", OLD)), str(write(tmp_path / "new", NEW))


EXPECTED = """\
Impact of /new on programs for /old

New and changed (10)
  New versions with their difference from the version before, then other changes.
  AskRequest 3: adds Delta (uuid); lacks Beta; header version 3 instead of 2
  AskRequest 0: removed
  AskResponse 3: layout of version 2
  AskResponse 0: removed
  RequestHeader 3: adds ClientInstanceId (uuid)
  SumKey 0: new coordinator-key, apiKey 1; fields: Beta (string)
  SumValue 2: adds Zeta (int8)
  SumValue 1: new tagged fields Gamma (tag 0)
  ByeRequest: removed with all its versions (0)
  ByeResponse: removed with all its versions (0)

No change on the wire (1)
  The bytes are the same; code, JSON or the documentation differ.
  AskRequest: another description; another description of Alpha

Clients (4)
  Clients of the old release, with brokers of the new one: they write requests and read responses. Clients \
negotiate versions, so they do not use new ones. They are refused if none of their versions is left.
  AskRequest 0: removed: clients need one of 1-2
  AskResponse 0: removed: clients need one of 1-2
  ByeRequest: removed with all its versions (0)
  ByeResponse: removed with all its versions (0)

Proxies (3)
  Proxies with the old definitions cannot decode these messages: remove the versions from \
ApiVersionsResponse, or pass the bytes undecoded. The bytes are message bodies, which a decoder misreads if \
it ignores the version.
  AskRequest 3: unknown version; its header has version 3, which /old lacks
      00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
      a decoder of version 2 fails: beta: unexpected null at offset 4 in this version
  AskResponse 3: unknown version; a decoder of version 2 reads its bytes
  RequestHeader 3: unknown version
      00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
      a decoder of version 2 fails: 16 bytes left after the message, at offset 11

Log readers (3)
  Readers of internal topics, snapshots and the metadata log with the old definitions lack these record \
versions. The definitions do not say when brokers begin to write a version: this depends on the features that \
a cluster enables.
  SumValue 2: unknown version
      00 00 00 00 00 00
      a decoder of version 1 fails: 1 byte left after the message, at offset 5
  new messages: unknown: SumKey 0
  SumValue 1: new tagged fields Gamma (tag 0): skipped as unknown
"""


def test_report_names_what_breaks_for_each_program(
    sides: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = sides
    assert run("--old", old, "--new", new, "--impact") == 0
    assert capsys.readouterr().out.replace(str(tmp_path), "") == EXPECTED


class _Tags(HTMLParser):
    """Collects the open elements, all names of elements, and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        assert "src" not in dict(attrs), tag
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_report_is_one_file_with_the_lines_of_the_text(
    sides: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = sides
    target = tmp_path / "impact.html"
    assert run("--old", old, "--new", new, "--impact", "--html", str(target)) == 0
    text = capsys.readouterr().out
    page = target.read_text(encoding="utf-8")
    parsed = _Tags()
    parsed.feed(page)
    assert parsed.open == []
    assert parsed.names.isdisjoint({"script", "link", "iframe", "img"})
    assert "color-scheme: light dark" in page
    plain = re.sub(r"\s+", "", parsed.text)
    for line in text.splitlines():
        assert re.sub(r"\s+", "", line) in plain


def test_html_report_escapes_markup() -> None:
    section = ImpactSection("<b>", "&", (ImpactItem("<i>", "a<b", b"\x00", "<u>"),))
    page = as_html(ImpactReport("<old>", "new", (section,)))
    assert "<h1>Impact of new on programs for &lt;old&gt;</h1>" in page
    assert "<summary>&lt;b&gt; (1)</summary>\n<p>&amp;</p>" in page
    assert "<li><code>&lt;i&gt;</code>: a&lt;b" in page
    assert "<code>&lt;u&gt;</code>" in page


def test_missing_descriptions_of_the_history_are_no_change() -> None:
    new = set_of_folder(ROOT / "specs" / "kafka")
    same = items(impact(baseline("Kafka 4.4.0", [set_of_release(HISTORY, "4.4.0")]), new), "No change on the wire")
    assert same == {}


@pytest.mark.parametrize("option", [("--format", "json"), ("--waivers", "waivers.toml")])
def test_options_without_meaning_for_the_impact_exit_with_3(
    option: tuple[str, str], sides: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = sides
    assert run("--old", old, "--new", new, "--impact", *option) == 3
    assert capsys.readouterr().err == (
        "--impact: has no other format and no waivers; for a page, add --html FILE\nnothing was compared\n"
    )


def test_html_without_impact_exits_with_3(sides: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    old, new = sides
    assert run("--old", old, "--new", new, "--html", "page.html") == 3
    assert capsys.readouterr().err == (
        "--html: only the report of --impact is printed as HTML; add --impact\nnothing was compared\n"
    )


def test_invalid_definitions_have_no_report(sides: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    old, new = sides
    path = Path(new) / "AskRequest.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"3+": 3', '"3+": 9'), encoding="utf-8")
    assert run("--old", old, "--new", new, "--impact") == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "RequestHeader has no version 9, which AskRequest names for" in printed.err
    assert printed.err.endswith("\nnothing was compared\n")
