"""The subcommand ``releases``: message versions of a release or of a KIP."""

from __future__ import annotations

import re

import pytest
from kafka_messages import all_messages
from kafka_messages.history import RELEASES, kips_of, since, until, versions_with_kip

from tests.support.command import RunCommand, rows

KIP_848 = """\
message                        version  since  unstable since  until
ConsumerGroupHeartbeatRequest  1        4.0.0
ListGroupsRequest              5        3.8.0
ListGroupsResponse             5        3.8.0
OffsetCommitRequest            9        3.7.0  3.6.0
OffsetCommitRequest            10       4.2.0  4.1.0
OffsetCommitResponse           9        3.7.0  3.6.0
OffsetCommitResponse           10       4.2.0  4.1.0
OffsetFetchRequest             9        3.7.0
OffsetFetchRequest             10       4.2.0  4.1.0
OffsetFetchResponse            9        3.7.0
OffsetFetchResponse            10       4.2.0  4.1.0
"""


@pytest.mark.parametrize("word", ["KIP-848", "kip848"])
def test_kip_has_its_messages_and_versions(word: str, run_command: RunCommand) -> None:
    says = "ncomplete: Kafka's definitions name KIPs for few versions; KIP-848 may have added others"
    assert run_command("releases", word) == (0, f"{KIP_848}I{says}.\n", "")
    assert run_command("releases", word, "--json")[2] == f"note: i{says}\n"


def test_release_has_its_versions_and_kips(run_command: RunCommand) -> None:
    assert run_command("releases", "4.0.1") == (
        0,
        "message            versions  in Kafka 4.0.1  KIPs\n"
        "JoinGroupRequest   0-1       restored\n"
        "JoinGroupResponse  0-1       restored\n",
        "",
    )
    _, out, _ = run_command("releases", "4.1.0")
    same = "added and dropped no message versions\n"
    assert run_command("releases", "4.1")[1] == f"{out}Kafka 4.1.1 {same}Kafka 4.1.2 {same}"
    lines = [re.split(" {2,}", line) for line in out.splitlines()]
    assert ["FetchRequest", "18", "new version", "KIP-1166"] in lines
    assert ["ShareFetchRequest", "1", "new message, unstable since 3.9.0", "KIP-932"] in lines
    assert sum("new message, unstable since 3.9.0" in line for line in lines) == 18
    assert ["ReadShareGroupStateRequest", "0", "new message, unstable since 3.9.0"] in lines
    assert ["EndTxnMarker", "0", "first definition"] in lines
    assert ["ShareGroupPartitionMetadataKey", "0", "dropped"] in lines
    _, out, _ = run_command("releases", "2.2.0")
    assert [line.split(maxsplit=2) for line in out.splitlines() if line.startswith("FetchRequest ")] == [
        ["FetchRequest", "0-8", "first definition"],
        ["FetchRequest", "9", "first definition  KIP-320"],
        ["FetchRequest", "10", "first definition  KIP-110"],
    ]


def test_json_lines_of_all_releases_have_every_version(run_command: RunCommand) -> None:
    found: dict[str, set[tuple[str, int]]] = {"added": set(), "dropped": set()}
    for release in RELEASES:
        _, out, _ = run_command("releases", release, "--json")
        for row in rows(out) if out.startswith("{") else ():
            assert list(row) == ["release", "message", "version", "change", "unstable_since", "kips"]
            pair = row["message"], row["version"]
            if row["change"] == "dropped":
                assert row["kips"] == []
                found["dropped"].add(pair)
            else:
                assert tuple(row["kips"]) == kips_of(*pair)
                found["added"].add(pair)
                assert (since(*pair) == release) is (row["change"] != "restored")
    named = [(info.name, version) for info in all_messages() for version in info.valid_versions]
    assert found["added"] == {pair for pair in named if since(*pair)}
    assert {pair for pair in named if until(*pair)} <= found["dropped"]


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("KIP-1", "Kafka's definitions name KIP-1 for no message version"),
        ("kip 2", "Kafka's definitions name KIP-2 for no message version"),
        (
            "9.9",
            "Kafka '9.9' is not in the history of this package, which has 2.2.0 to 4.4.0; for a KIP, write KIP-848",
        ),
    ],
)
def test_unknown_release_or_kip_exits_with_2(word: str, says: str, run_command: RunCommand) -> None:
    assert run_command("releases", word) == (2, "", f"kafka-messages: {says}\n")


def test_every_kip_of_a_version_is_found_by_its_number() -> None:
    named = [
        (info.name, version, kip)
        for info in all_messages()
        for version in info.valid_versions
        for kip in kips_of(info.name, version)
    ]
    assert len(named) > 100
    assert [each for each in named if each[1] not in versions_with_kip(each[2])[each[0]]] == []
    assert versions_with_kip(1) == {}
    with pytest.raises(ValueError, match=r"^unknown message 'Fetch'; did you mean 'FetchRequest'\?$"):
        kips_of("Fetch", 1)
    with pytest.raises(TypeError, match=r"^a version must be an int such as 3, not '1'$"):
        kips_of("FetchRequest", "1")  # type: ignore[arg-type]  # what is tested
