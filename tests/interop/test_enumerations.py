"""Enumerations, compared with Kafka's own classes."""

from __future__ import annotations

import json

import pytest

from kafka_protocol_upstream.kafka.artifacts import BROKER, resolve
from kafka_protocol_upstream.vectors.enumerations import enumerations, render
from kafka_protocol_upstream.vectors.java_oracle import OracleError, error_codes
from tests.interop.kafka import ROOT, release

SPECS = ROOT / "specs" / "kafka"


def test_enumerations_and_error_codes_equal_kafkas_classes(tmp_path_factory: pytest.TempPathFactory) -> None:
    jars = resolve(release(), tmp_path_factory.mktemp("jars"), BROKER)
    committed = (SPECS / "enumerations.json").read_text(encoding="utf-8")
    with enumerations(jars) as java:
        assert render(java.updated(json.loads(committed))) == committed
        wrong = {"name": "Acks", "members": [{"name": "ALL", "constant": "org.apache.kafka.common.ElectionType.ALL"}]}
        with pytest.raises(OracleError) as caught:
            java.updated([wrong])
    assert "java.lang.NoSuchFieldException: ALL" in str(caught.value)
    errors = error_codes(jars)
    known = json.loads((SPECS / "errors.json").read_text(encoding="utf-8"))
    assert [{key: error[key] for key in error if key != "about"} for error in known] == errors
