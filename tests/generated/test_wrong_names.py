"""Invalid class or message names, missing extras, and reprs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import kafka_messages
import pytest
from kafka_messages import MetadataRequest, OffsetCommitKey, all_messages
from kafka_messages.connection import EntityType
from kafka_messages.explain import explain, explain_record
from kafka_messages.internal_topics import (
    read_versioned,
    write_coordinator_record,
    write_metadata_record,
    write_versioned,
)
from kafka_messages.json import from_json, to_json
from kafka_messages.protocol import api, apis
from kafka_messages.schema import FieldDescriptor, entity_types, fields_of, schemas_of
from kafka_messages.secrets import secrets_of
from kafka_messages.testing import random_messages

NAME: Any = "MetadataRequest"
NONE: Any = None
WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: fields_of(NAME), "expected the class of a message or of a struct inside one, got 'MetadataRequest'"),
    (lambda: schemas_of(NAME), "expected a message class, got 'MetadataRequest'"),
    (lambda: explain(b"", NAME, 3), "expected a message class, got 'MetadataRequest'"),
    (lambda: explain_record(b"", NAME), "expected a message class, got 'MetadataRequest'"),
    (lambda: from_json(NAME, {}, 3), "expected a message class, got 'MetadataRequest'"),
    (lambda: read_versioned(NAME, b"\0\0"), "expected a message class, got 'MetadataRequest'"),
    (lambda: secrets_of(NAME), "expected a message class, got 'MetadataRequest'"),
    (lambda: random_messages(NAME, 3), "expected a message class, got 'MetadataRequest'"),
    (lambda: to_json(NONE, 1), "expected a message, got None"),
    (lambda: write_coordinator_record(NONE), "expected a message, got None"),
    (lambda: write_metadata_record(NONE, 0), "expected a message, got None"),
    (lambda: write_versioned(NONE, 0), "expected a message, got None"),
]


@pytest.mark.parametrize(("use", "text"), WRONG)
def test_wrong_class_or_message_raises_type_error(use: Callable[[], object], text: str) -> None:
    with pytest.raises(TypeError) as raised:
        use()
    assert str(raised.value) == text


def test_random_messages_of_unsupported_version_raise() -> None:
    with pytest.raises(kafka_messages.UnsupportedVersionError) as raised:
        random_messages(MetadataRequest, 99)
    assert str(raised.value) == "MetadataRequest has no version 99, only versions 0 to 13"


@pytest.mark.parametrize(
    ("statement", "package"),
    [
        ("import kafka_messages.arrow", "pyarrow"),
        ("import kafka_messages; kafka_messages.arrow", "pyarrow"),
    ],
)
def test_missing_extra_raises_module_not_found_error(statement: str, package: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; {statement}"
    assert last_line(code) == (
        f"ModuleNotFoundError: kafka_messages.arrow requires the package {package}, which is not installed; "
        "install the extra `arrow`"
    )


def test_testing_without_hypothesis_exports_random_functions() -> None:
    code = (
        "import importlib.util as util; util.find_spec = {}.get; "
        "from kafka_messages.testing import *; print(*sorted(name for name in dir() if name[0] != '_' and name != 'util'))"
    )
    assert last_line(code) == "damaged random_messages"


def last_line(code: str) -> str:
    environment = {"PYTHONPATH": str(Path(kafka_messages.__file__).parents[1])}
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment)
    return (done.stdout + done.stderr).splitlines()[-1]


def test_type_aliases_exist_at_run_time() -> None:
    assert kafka_messages.MessageClass == type[kafka_messages.Message]
    kinds = {each.entity_type for each in every_field() if each.entity_type}
    for each in all_messages():
        kinds.update(*entity_types(each.message_class).values())
    assert {*get_args(EntityType)} == kinds - {"topicId"}  # `entities` finds names, not ids of topics


def test_repr_of_apis_and_fields_is_short() -> None:
    assert repr(api(3)) == "<Api 3 Metadata: versions 0 to 13>"
    assert repr(fields_of(OffsetCommitKey)[0]) == "<FieldDescriptor group: string, version 0>"
    name = next(each for each in fields_of(MetadataRequest.MetadataRequestTopic) if each.name == "name")
    assert repr(name) == "<FieldDescriptor name: string, versions 0+, null in versions 10+>"
    assert max(len(repr(each)) for each in apis()) < 200
    assert max(len(repr(each)) for each in every_field()) < 200


def every_field() -> list[FieldDescriptor]:
    return [field for each in all_messages() for field in fields_of(each.message_class)]
