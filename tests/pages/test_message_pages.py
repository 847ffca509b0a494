"""Contents of message pages, compared with the generated package."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import kafka_messages
import kafka_messages_proposals
import pytest
from kafka_messages.explain import explain
from kafka_messages.protocol import apis

from kafka_message_generator import definitions
from kafka_messages_tools.command import main
from kafka_messages_tools.command._layouts import rows_of
from kafka_messages_tools.package import load
from kafka_protocol_pages.fields import fields_of, runs_of
from kafka_protocol_pages.package import Package
from kafka_protocol_pages.samples import Samples, read_samples, read_traffic
from tests.support.markup import Element, Parsed
from tests.support.pages import ROOT


@pytest.fixture(scope="module")
def samples() -> Samples:
    return read_samples(ROOT / "packages" / "vectors" / "src" / "kafka_protocol_vectors")


@pytest.fixture(scope="module")
def traffic() -> Samples:
    return read_traffic(ROOT / "examples" / "cluster" / "traffic", Package("kafka_messages"))


def inspectors(pages: Mapping[str, Parsed], name: str) -> list[Element]:
    """Return the inspectors (hex dump and field tree) on all pages of a message."""
    paths = (path for path in pages if path == f"messages/{name}.html" or path.startswith(f"messages/{name}-v"))
    return [each for path in paths for each in pages[path].root.all(css="inspector")]


@pytest.mark.parametrize(("specs", "package"), [("kafka", kafka_messages), ("proposals", kafka_messages_proposals)])
def test_wire_types_in_the_field_table_equal_the_schemas(specs: str, package: ModuleType) -> None:
    for plan in definitions.load(ROOT / "specs" / specs).plans:
        fields = fields_of(plan, runs_of(plan))
        shown = {field.path: {version: wire.type for version, wire in field.wires.items()} for field in fields}
        assert shown == {row.path: row.types for row in rows_of(load(package.__name__), plan.name)}, plan.name


def test_cells_of_the_field_table_show_type_changes() -> None:
    plan = next(p for p in definitions.load(ROOT / "specs" / "proposals").plans if p.name == "IntegerEncodings")
    cells = {field.path: [cell.text for cell in field.cells] for field in fields_of(plan, runs_of(plan))}
    assert cells["too_small"] == ["int32", "int64"]
    assert cells["offset"] == ["", "varlong", "upacked64", "packed16"]
    assert cells["offsets"] == ["[]int32?", "[]varlong?", "[]upacked64?"]
    assert cells["tagged_count"] == ["", "#0 varint"]


def test_every_sample_byte_is_shown_once(pages: Mapping[str, Parsed], samples: Samples, traffic: Samples) -> None:
    shown = 0
    for name in {name for name, _ in samples}:
        every = [*samples.items(), *traffic.items()]
        own = {sample.data for (message, _), sample in every if message == name}
        for each in inspectors(pages, name):
            hexes = [byte.text for byte in each.all("i")]
            rows = [
                (int(row.attributes["data-s"]), int(row.attributes["data-e"]))
                for row in each.all("tr")
                if "data-s" in row.attributes
            ]
            assert all(0 <= start <= end <= len(hexes) for start, end in rows)
            assert sum(1 for _ in each.all("b")) == len(hexes)
            assert {place for start, end in rows for place in range(start, end)} == set(range(len(hexes)))
            if "··" not in hexes:
                assert any(bytes.fromhex("".join(hexes)).endswith(data) for data in own)
            shown += 1
    assert shown > 500


@pytest.mark.parametrize("side", ["Request", "Response"])
def test_samples_start_with_length_and_header(side: str, pages: Mapping[str, Parsed]) -> None:
    shown, wanted = {}, {}
    for api in apis():
        name = api.request_name if side == "Request" else api.response_name
        for each in inspectors(pages, name) if name else ():
            version = int(each.one("table", "hex").attributes["aria-label"].partition(" v")[2].partition(",")[0])
            row = next(row for row in each.all("tr", "group"))
            shown[name, version] = row.inside[1].text  # type: ignore[union-attr]
            header = api.request_header_version if side == "Request" else api.response_header_version
            wanted[name, version] = f"{side}Header v{header(version)}"
            length, *rest = each.all("i")
            first = bytes.fromhex("".join(byte.text for byte in (length, *rest[:3])))
            assert int.from_bytes(first, "big") == len(rest) - 3
    assert shown == wanted
    assert len(shown) > 200


@pytest.mark.parametrize("name", ["ApiVersionsRequest", "ApiVersionsResponse", "ConsumerProtocolSubscription"])
def test_commands_and_python_code_below_a_sample_explain_it(
    name: str, pages: Mapping[str, Parsed], capsys: pytest.CaptureFixture[str]
) -> None:
    *commands, python = (
        code.text for code in next(pages[f"messages/{name}.html"].root.all("details", "same")).all("code")
    )
    printed = []
    for command in commands:
        program, *words = shlex.split(command)
        assert (program, main([*words, "--text", "--width", "100"])) == ("kafka-messages", 0)
        printed.append(capsys.readouterr().out)
    exec(python, {})
    assert capsys.readouterr().out.startswith(printed[0])


def test_field_tree_contains_the_positions_and_types_of_explain(pages: Mapping[str, Parsed], samples: Samples) -> None:
    sample = samples["ApiVersionsResponse", 5]
    found = explain(sample.data, kafka_messages.ApiVersionsResponse, 5)
    box = inspectors(pages, "ApiVersionsResponse")[-1]
    before = 8  # length and header
    types = {(int(row.attributes["data-s"]), row.inside[-1].text) for row in box.one("tbody").all("tr")}  # type: ignore[union-attr]
    leaves = {(before + leaf.start, leaf.type) for leaf in found.leaves() if leaf.role == "value"}
    assert leaves <= types


@pytest.mark.parametrize(
    ("name", "version"),
    [("SaslAuthenticateRequest", 2), ("CreateDelegationTokenResponse", 3), ("FindCoordinatorRequest", 6)],
)
def test_only_secrets_are_redacted(
    name: str, version: int, pages: Mapping[str, Parsed], site: Path, samples: Samples
) -> None:
    data = samples[name, version].data
    found = explain(data, getattr(kafka_messages, name), version)
    box = inspectors(pages, name)[-1]
    hexes = [row["hex"] for row in found.rows()]
    body = "".join(
        "··" * (leaf.end - leaf.start) if text is None else str(text)
        for leaf, text in zip(found.leaves(), hexes, strict=True)
    )
    shown = "".join(byte.text for byte in box.all("i"))
    assert shown.endswith(body)
    assert "··" not in shown.removesuffix(body)  # length and header
    values = ["".join(row.inside[2].text.split()[:1]) for row in box.all("tr", "secret")]  # type: ignore[union-attr]
    assert set(values) == ({"redacted"} if None in hexes else set())
    text = (site / "messages" / f"{name}.html").read_text(encoding="utf-8")
    assert (data.hex() in text) == (None not in hexes)


def test_search_index_contains_fields_and_errors(site: Path) -> None:
    text = (site / "assets" / "search.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("const SEARCH = ").removesuffix(";\n"))
    paths = {name: paths.split(" ") for name, _, paths in index["messages"]}
    assert paths.keys() == {info.name for info in kafka_messages.all_messages()}
    assert "topics.partitions.leader_epoch" in paths["MetadataResponse"]
    assert [3, "UNKNOWN_TOPIC_OR_PARTITION"] in index["errors"]
    assert len(text) < 300_000


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("messages/MetadataResponse.html", "ResponseHeader 0 for versions 0-8, 1 for versions 9-13"),
        ("messages/ApiVersionsResponse.html", "ResponseHeader 0 for versions 0-5"),
        ("headers.html", "ApiVersionsResponse always has ResponseHeader 0"),
        ("types.html", "which is why a 00 often follows the last field"),
        ("entities.html#transactionalId", "InitProducerIdRequest"),
        ("entities.html#topicId", "MetadataRequest"),
        ("entities.html#principal", "CreateAclsRequest"),
        ("entities.html#shareKey", "FindCoordinatorRequest"),
        ("entities.html#user", "AlterUserScramCredentialsResponse"),
        ("entities.html#clientId", "RequestHeader"),
        ("messages/DescribeConfigsRequest.html", "clientMetrics"),
        ("errors.html#NOT_COORDINATOR", "NOT_COORDINATOR"),
        ("records.html#group-coordinator", "__consumer_offsets"),
        ("batches.html", "0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd"),
        ("tags.html", "finalized_features_epoch"),
        ("enumerations.html#IsolationLevel", "READ_COMMITTED"),
        ("apis.html#key-18", "ApiVersions"),
    ],
)
def test_page_contains_the_expected_text(page: str, words: str, pages: Mapping[str, Parsed]) -> None:
    path, _, fragment = page.partition("#")
    assert words in pages[path].root.text
    assert not fragment or fragment in pages[path].ids


def test_backquoted_words_in_descriptions_are_rendered_as_code(pages: Mapping[str, Parsed]) -> None:
    errors = pages["errors.html"].root
    described = [cell for cell in errors.all("td", "what") if any(cell.all("code"))]
    assert "min.insync.replicas" in [code.text for cell in described for code in cell.all("code")]
    assert "`" not in errors.text


def test_each_version_has_an_anchor_on_its_message_page(pages: Mapping[str, Parsed]) -> None:
    for info in kafka_messages.all_messages():
        wanted = {f"v{version}" for version in range(info.valid_versions.lowest, info.valid_versions.highest + 1)}
        assert wanted - set(pages[f"messages/{info.name}.html"].ids) == set(), info.name
