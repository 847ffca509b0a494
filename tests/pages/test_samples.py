"""Selection of samples from vectors and recorded connections, and errors for damaged files."""

from __future__ import annotations

from pathlib import Path

import pytest
from kafka_messages import ApiVersionsRequest, ApiVersionsResponse
from kafka_messages.protocol import encode_request, encode_response

from kafka_protocol_pages.package import Package, PagesError
from kafka_protocol_pages.samples import MOST, Best, Sample, read_samples, read_traffic
from tests.support.pages import ROOT

PACKAGE = Package("kafka_messages")
KEY = ("Probe", 1)


def test_sample_with_most_fields_set_is_chosen() -> None:
    best = Best()
    for size, source in (
        (MOST + 1, {"a": 1, "b": 2, "c": 3}),
        (9, {"a": 1}),
        (30, {"a": 1, "b": [5]}),
        (20, {"a": 1, "b": [0, 7]}),
    ):
        best.add(KEY, Sample(bytes(size), ""), source)
    assert len(best.samples()[KEY].data) == 20
    best.add(("Long", 0), Sample(bytes(MOST + 9), ""), {})
    assert ("Long", 0) in best.samples()


def test_vectors_give_one_sample_per_message_version() -> None:
    assert len(read_samples(ROOT / "packages" / "vectors" / "src" / "kafka_protocol_vectors")) == 870


def test_requests_and_responses_of_a_connection_become_samples(tmp_path: Path) -> None:
    request = ApiVersionsRequest(client_software_name="me", client_software_version="1")
    old = ApiVersionsResponse(error_code=35)
    (tmp_path / "1.request.bin").write_bytes(encode_request(request, 4, 7, "id"))
    (tmp_path / "1.response.bin").write_bytes(
        encode_response(old, 0, 7) + encode_response(ApiVersionsResponse(), 0, 99)
    )
    found = read_traffic(tmp_path, PACKAGE)
    assert {key: sample.data for key, sample in found.items()} == {
        ("ApiVersionsRequest", 4): request.write(4),
        ("ApiVersionsResponse", 0): old.write(0),
    }


def test_damaged_traffic_raises_pages_error(tmp_path: Path) -> None:
    path = tmp_path / "1.request.bin"
    path.write_bytes(encode_request(ApiVersionsRequest(), 3, 7) + b"\0\0\0\4\0\x12\0\3")
    with pytest.raises(PagesError) as error:
        read_traffic(tmp_path, PACKAGE)
    what = "RequestHeader v0: correlation_id: INT32: 4 bytes needed at offset 4, 0 left"
    assert str(error.value) == f"{path}: message 2: cannot be decoded: {what}"
    path.write_bytes(b"\0\0\0\4\0")
    with pytest.raises(PagesError) as error:
        read_traffic(tmp_path, PACKAGE)
    assert str(error.value) == f"{path}: cannot be decoded: truncated frame at offset 0: the data ends at offset 5"


def test_empty_or_missing_folder_gives_no_samples(tmp_path: Path) -> None:
    assert read_samples(tmp_path) == read_traffic(tmp_path / "none", PACKAGE) == {}
