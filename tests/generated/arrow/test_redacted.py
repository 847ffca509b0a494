"""Redacted columns equal the object codec's redacted copies."""

from __future__ import annotations

from typing import Any

import pytest

pa = pytest.importorskip("pyarrow", reason="the extra `arrow` is not installed")
pytest.importorskip("numpy", reason="the extra `arrow` is not installed")

import kafka_messages as km
from kafka_messages.arrow import decode, encode, redacted
from kafka_messages.messages.describe_configs_response import DescribeConfigsResourceResult, DescribeConfigsResult
from kafka_messages.secrets import REDACTED, is_secret_setting, marks, secrets_of
from kafka_messages.secrets import redacted as hidden_of_objects

from tests.support.planting import WITH_SECRETS
from tests.support.random_messages import messages, versions_of
from tests.support.replaced import counting

NAMES = ("retention.ms", "ssl.keystore.password", "acme.key", "LOG.DIRS", "kafka.server.KafkaApis")


def with_setting_names(message: Any) -> Any:
    """Return the message with real names of settings and resource types instead of random ones."""
    for setting in secrets_of(type(message)).settings:
        names = structs_at(message, setting.name) if setting.name else ()
        for number, (struct, name) in enumerate(names):
            setattr(struct, name, NAMES[number % len(NAMES)])
        for number, (struct, name) in enumerate(
            structs_at(message, setting.resource_type) if setting.resource_type else ()
        ):
            setattr(struct, name, (4, 8)[number % 2])
    return message


def structs_at(struct: Any, path: str) -> list[tuple[Any, str]]:
    """Return the structs that contain the last field of a path, with its name."""
    name, _, rest = path.partition(".")
    if not rest:
        return [(struct, name)]
    value = getattr(struct, name)
    inner = [] if value is None else value if hasattr(value, "__iter__") else [value]
    return [found for each in inner for found in structs_at(each, rest)]


@pytest.mark.parametrize("mark", [REDACTED, marks(b"salt")], ids=["plain", "marks"])
@pytest.mark.parametrize("name", WITH_SECRETS)
def test_redacted_columns_equal_redacted_objects(name: str, mark: Any) -> None:
    message = getattr(km, name)
    for version in versions_of(message):
        drawn = [with_setting_names(each) for seed in range(4) for each in messages(message, version, seed)]
        column = decode(pa.array([each.write(version) for each in drawn]), message, version, unknown_tagged_fields=True)
        found = redacted(column, message, mark)
        found.validate(full=True)
        assert found.type == column.type
        wanted = [hidden_of_objects(each, mark).write(version) for each in drawn]
        assert encode(found, message, version).to_pylist() == wanted


RECORDS = [
    km.ConfigRecord(resource_type=4, name="acme.key", value="swordfish"),
    km.ConfigRecord(resource_type=4, name="log.dirs", value="/data"),
    km.ConfigRecord(resource_type=4, name="acme.key", value=None),
    km.ConfigRecord(resource_type=8, name="kafka", value="INFO"),
    km.ConfigRecord(resource_type=4, name="ssl.key.password", value="swordfish"),
]
VALUES = ["(redacted)", "/data", None, "INFO", "(redacted)"]


def test_slices_with_nulls_are_redacted() -> None:
    data = [record.write(0) for record in RECORDS]
    column = decode(pa.array([None, *data, None]), km.ConfigRecord, 0)
    assert redacted(column, km.ConfigRecord).to_pylist()[0] is None
    for start in range(len(data)):
        for count in range(1, len(data) - start):
            part = redacted(column.slice(1 + start, count), km.ConfigRecord)
            assert part.field("value").to_pylist() == VALUES[start : start + count]
    assert len(redacted(column.slice(3, 0), km.ConfigRecord)) == 0


def test_views_of_lists_are_rejected() -> None:
    column = pa.StructArray.from_arrays([pa.array([["a"]], pa.list_view(pa.string()))], names=["configs"])
    with pytest.raises(TypeError) as caught:
        redacted(column, km.DescribeConfigsResponse)
    assert str(caught.value) == (
        "configs: list_view<item: string> is not a type that decode returns; cast it to a list before redaction"
    )


def test_slices_of_lists_are_redacted() -> None:
    results = [
        DescribeConfigsResult(
            resource_type=kind, configs=[DescribeConfigsResourceResult(name="x", value=str(kind))] * kind
        )
        for kind in (2, 8, 0, 4, 8)
    ]
    data = [km.DescribeConfigsResponse(results=results[at : at + 2]).write(4) for at in range(4)]
    column = decode(pa.array(data), km.DescribeConfigsResponse, 4)
    whole = redacted(column, km.DescribeConfigsResponse)
    for start in range(4):
        assert redacted(column.slice(start, 2), km.DescribeConfigsResponse).equals(whole.slice(start, 2))
    for row, message in zip(whole.to_pylist(), data, strict=True):
        read = hidden_of_objects(km.DescribeConfigsResponse.read(message, 4))
        found = [[each["value"] for each in result["configs"]] for result in row["results"]]
        assert found == [[each.value for each in result.configs] for result in read.results]


def test_missing_name_or_type_column_redacts_more_values() -> None:
    column = decode(pa.array([record.write(0) for record in RECORDS]), km.ConfigRecord, 0)

    def without(name: str) -> Any:
        fields = [field for field in column.type if field.name != name]
        return pa.StructArray.from_arrays([column.field(field.name) for field in fields], fields=fields)

    assert redacted(without("name"), km.ConfigRecord).field("value").to_pylist() == [
        *("(redacted)", "(redacted)", None, "INFO", "(redacted)"),
    ]
    assert redacted(without("resource_type"), km.ConfigRecord).field("value").to_pylist() == [
        *("(redacted)", "/data", None, "(redacted)", "(redacted)"),
    ]
    rest = without("value")
    assert redacted(rest, km.ConfigRecord).equals(rest)


def test_config_value_is_redacted_if_the_name_is_invalid_utf8() -> None:
    data = RECORDS[1].write(0).replace(b"log.dirs", b"log.d\xff\xfes")
    column = decode(pa.array([data]), km.ConfigRecord, 0, validate_utf8=False)
    assert redacted(column, km.ConfigRecord).field("value").to_pylist() == ["(redacted)"]


def test_each_distinct_name_is_checked_once() -> None:
    column = decode(pa.array([record.write(0) for record in RECORDS] * 1000), km.ConfigRecord, 0)
    with counting(is_secret_setting) as counts:
        redacted(column, km.ConfigRecord)
    assert 0 < counts["is_secret_setting"] < 10


def test_columns_without_secrets_are_returned_unchanged() -> None:
    column = decode(pa.array([km.MetadataResponse().write(12)]), km.MetadataResponse, 12)
    assert redacted(column, km.MetadataResponse) is column
