"""The table of settings, and the rule which settings are secret, compared with a broker's classes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka_messages.secrets import is_secret_setting

from kafka_protocol_upstream.kafka.artifacts import BROKER, resolve
from kafka_protocol_upstream.vectors.settings import SettingsOracle, settings
from tests.interop.kafka import ROOT, release

COMMITTED = ROOT / "specs" / "kafka" / "settings.json"
QUOTAS = "replication.throttled.rate", "replica.alter.log.dirs.io.max.bytes.per.second"
"""Suffixes of quota settings, which cannot be set per listener."""


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SettingsOracle]:
    jars = resolve(release(), tmp_path_factory.mktemp("jars"), BROKER)
    with settings(jars) as java:
        yield java


def test_settings_table_is_up_to_date(kafka: SettingsOracle) -> None:
    assert COMMITTED.read_text(encoding="utf-8") == kafka.table()


def test_secret_setting_rule_agrees_with_kafka(kafka: SettingsOracle) -> None:
    of_broker = [each["name"] for each in json.loads(Path(COMMITTED).read_text()) if "broker" in each["of"]]
    names = [*of_broker, "acme.endpoint", "rsm.config.x", "plain.sasl.jaas.config", "log.dirs.x"]
    names += [f"listener.name.internal.{name}" for name in names if not name.endswith(QUOTAS)]
    for_mechanisms = ("sasl.jaas.config", "sasl.login.class", "sasl.server.callback.handler.class")
    names += [f"listener.name.internal.scram-sha-256.{name}" for name in (*for_mechanisms, "log.dirs", "acme")]
    wrong = [name for name, secret in zip(names, kafka.hidden(names), strict=True) if is_secret_setting(name) != secret]
    assert wrong == []
