"""Listing of messages, and errors for unknown names."""

from __future__ import annotations

import pydoc
import subprocess
import sys
from pathlib import Path
from typing import Any

import kafka_messages
import pytest
from kafka_messages import all_messages, protocol
from kafka_messages.protocol import apis
from kafka_messages.schema.descriptors import descriptor_of

from tests.support.vectors import message_class, message_names

SOURCE = str(Path(kafka_messages.__file__).parents[1])


def run_python(code: str) -> str:
    environment = {"PYTHONPATH": SOURCE}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    return done.stdout + done.stderr


def test_every_message_is_listed_once() -> None:
    assert [each.name for each in all_messages()] == message_names()


@pytest.mark.parametrize("each", all_messages(), ids=lambda each: each.name)
def test_listed_values_equal_the_message_class(each: kafka_messages.MessageInfo) -> None:
    cls = message_class(each.name)
    descriptor = descriptor_of(cls)
    assert each.message_class is cls
    assert (each.kind, each.api_key) == (descriptor.kind, cls.API_KEY)
    assert list(each.valid_versions) == list(range(descriptor.valid.lowest, descriptor.valid.highest + 1))
    assert list(each.flexible_versions) == [
        version for version in each.valid_versions if version in descriptor.flexible
    ]


def test_listed_versions_of_a_pair_equal_the_api() -> None:
    listed = {each.name: (each.deprecated_versions, each.latest_version_unstable) for each in all_messages()}
    for api in apis():
        if not api.is_removed:
            wanted = (api.deprecated_versions, api.latest_version_unstable)
            assert listed[api.request_name] == listed[api.response_name] == wanted


def test_listed_header_versions_equal_the_api_and_the_descriptor() -> None:
    for each in all_messages():
        assert descriptor_of(each.message_class).header_versions == each.header_versions
        found = [each.header_version(version) for version in each.valid_versions]
        if each.kind not in ("request", "response"):
            assert found == [None] * len(found)
            continue
        of_key = protocol.api(each.api_key or 0)
        of_version = of_key.request_header_version if each.kind == "request" else of_key.response_header_version
        assert found == [of_version(version) for version in each.valid_versions], each.name


def test_listing_imports_no_message() -> None:
    code = (
        "import sys, kafka_messages; kafka_messages.all_messages();"
        "print([name for name in sys.modules if name.startswith('kafka_messages.messages')])"
    )
    assert run_python(code) == "[]\n"


def test_import_star_gives_all_public_names() -> None:
    code = "from kafka_messages import *; print(*sorted(name for name in vars() if name[0] != '_'))"
    public = {name for name in dir(kafka_messages) if name in kafka_messages._MODULES}
    listed: Any = kafka_messages.__all__  # made on demand
    assert set(run_python(code).split()) == set(listed) == public
    assert "MetadataResponse" in public


CANNOT = "ImportError: cannot import name"
MEANT = [
    ("kafka_messages.MetadataRespons", "AttributeError: module 'kafka_messages' has no attribute 'MetadataRespons'"),
    ("from kafka_messages import MetadataRespons", f"{CANNOT} 'MetadataRespons' from 'kafka_messages'"),
    ("from kafka_messages import metadataresponse", f"{CANNOT} 'metadataresponse' from 'kafka_messages'"),
]


@pytest.mark.parametrize(("statement", "error"), MEANT)
def test_misspelled_message_name_gets_a_suggestion(statement: str, error: str) -> None:
    printed = run_python(f"import kafka_messages; {statement}")
    assert printed.splitlines()[-1] == f"{error}; did you mean 'MetadataResponse'?"


def test_unknown_names_without_suggestion_raise_as_usual() -> None:
    assert not hasattr(kafka_messages, "MetadataRespons")
    with pytest.raises(AttributeError) as caught:
        _ = kafka_messages.orders
    assert str(caught.value) == "module 'kafka_messages' has no attribute 'orders'"
    printed = run_python("from kafka_messages import orders").splitlines()[-1]
    assert printed.startswith("ImportError: cannot import name 'orders' from 'kafka_messages'")


def test_module_help_has_at_most_200_lines() -> None:
    text = pydoc.plain(pydoc.render_doc(kafka_messages))
    assert len(text.splitlines()) <= 200
    assert "``protocol``: headers, framing, the API table, negotiation." in text


ELSEWHERE = [
    ("kafka_messages.ErrorCode", "AttributeError: module 'kafka_messages' has no attribute 'ErrorCode'", "enums"),
    ("from kafka_messages import ErrorCode", f"{CANNOT} 'ErrorCode' from 'kafka_messages'", "enums"),
    ("from kafka_messages import Handlers", f"{CANNOT} 'Handlers' from 'kafka_messages'", "connection"),
]


@pytest.mark.parametrize(("statement", "error", "module"), ELSEWHERE)
def test_error_for_a_missing_name_contains_its_submodule(statement: str, error: str, module: str) -> None:
    code = f"""
import sys, kafka_messages
try:
    {statement}
except (AttributeError, ImportError) as error:
    print(f"{{type(error).__name__}}: {{error}}", "pyarrow" in sys.modules, "numpy" in sys.modules)
"""
    assert run_python(code) == f"{error}; it is in kafka_messages.{module} False False\n"


def test_modules_are_attributes() -> None:
    code = "import sys, kafka_messages as k; print('kafka_messages.protocol' in sys.modules, k.protocol.api(3).name)"
    assert run_python(code) == "False Metadata\n"


def test_modules_are_imported_from_the_package() -> None:
    assert (
        run_python("from kafka_messages import errors, json, protocol; print(protocol.__name__)")
        == "kafka_messages.protocol\n"
    )
