"""Version checks and upload commands of ``nox -s release``."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.requirements import Requirement

from kafka_protocol_upstream.publish import versions
from kafka_protocol_upstream.publish.versions import MESSAGES, PRIVATE, Project
from kafka_protocol_upstream.publish.wheels import PROJECTS

PROPOSALS = Project("kafka-messages-proposals", "0.2.0", (), True)


def projects(needs: str, messages: str = "4.4.0.1", generator: str = "0.2.0") -> list[Project]:
    return [
        Project("kafka-messages-spark", "0.2.0", (Requirement("pyspark>=4"), Requirement(needs)), False),
        Project("kafka-message-generator", generator, (), False),
        Project(MESSAGES, messages, (), False),
        PROPOSALS,
    ]


def test_versions_of_this_project_are_compatible() -> None:
    assert list(versions.conflicts([versions.read(folder) for folder in PROJECTS.values()])) == []


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        (projects("kafka-messages[arrow]>=4.4.0.1,<4.5"), []),
        (
            projects("kafka_messages[arrow]>=4.4.0.1,<4.5", "4.5.0.1"),
            [
                "kafka-messages-spark requires kafka_messages[arrow]<4.5,>=4.4.0.1, but its version is 4.5.0.1; "
                "change one of them"
            ],
        ),
        (
            projects("kafka-messages>=4.4"),
            ["kafka-messages-spark requires kafka-messages>=4.4, which has no upper bound; add one"],
        ),
        (
            projects("kafka-messages<5", generator="0.3.0"),
            [
                "kafka-messages-spark has 0.2.0, kafka-message-generator has 0.3.0, kafka-messages-proposals has 0.2.0; "
                "give all projects the same version, except kafka-messages, which follows Kafka's"
            ],
        ),
    ],
)
def test_incompatible_versions_are_reported(found: list[Project], lines: list[str]) -> None:
    assert list(versions.conflicts(found)) == lines


def test_upload_commands_follow_dependency_order(tmp_path: Path) -> None:
    for stem in ("kafka_messages-4.4.0.1", "kafka_messages_spark-0.2.0", "kafka_message_generator-0.2.0"):
        for end in ("-py3-none-any.whl", ".tar.gz"):
            (tmp_path / f"{stem}{end}").touch()
    lines = list(versions.uploads(projects("kafka_messages>=4,<5"), tmp_path))
    commands = [line.split() for line in lines[1:-1]]
    assert all(command[:2] == ["twine", "upload"] and len(command) == 4 for command in commands)
    names = [Path(command[2]).name.partition("-")[0] for command in commands]
    assert sorted(names) == ["kafka_message_generator", "kafka_messages", "kafka_messages_spark"]
    assert names.index("kafka_messages") < names.index("kafka_messages_spark")
    assert lines[-1] == f"kafka-messages-proposals 0.2.0 is not uploaded: {PRIVATE}"


def test_upload_command_omits_wheels_of_this_machine(tmp_path: Path) -> None:
    for end in ("-cp311-cp311-linux_x86_64.whl", "-cp312-cp312-manylinux_2_28_x86_64.whl", ".tar.gz"):
        (tmp_path / f"kafka_messages_native-0.2.0{end}").touch()
    stem, place = (tmp_path / "kafka_messages_native-0.2.0").as_posix(), tmp_path.as_posix()
    assert list(versions.uploads([Project("kafka-messages-native", "0.2.0", (), False)], tmp_path)) == [
        "Nothing was uploaded. Run these commands in order; wait until each upload is available on PyPI:",
        f"  twine upload {stem}-cp312-cp312-manylinux_2_28_x86_64.whl {stem}.tar.gz",
        f"  and the wheels from cibuildwheel; other wheels in {place} are only for this machine",
    ]
