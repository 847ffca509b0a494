"""Requests with their responses, and struct classes of messages."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import kafka_messages
import pytest
from kafka_messages import Message, MetadataRequest, MetadataResponse, Request, RequestHeader, Response
from kafka_messages.protocol import Api, apis

from tests.support.vectors import message_class, message_names

PAIRED = [each for each in apis() if not each.is_removed]


@pytest.mark.parametrize("each", PAIRED, ids=str)
def test_request_class_has_its_response_class(each: Api) -> None:
    assert each.request_class.response_class is each.request_class().response_class is each.response_class


@pytest.mark.parametrize("name", message_names())
def test_message_classes_have_request_or_response_base(name: str) -> None:
    cls = message_class(name)
    assert issubclass(cls, Message)
    assert issubclass(cls, Request) == (cls.NAME.endswith("Request"))
    assert issubclass(cls, Response) == (cls.NAME.endswith("Response"))


def test_request_subclass_has_the_response_class() -> None:
    class Mine(MetadataRequest):
        pass

    assert Mine.response_class is Mine().response_class is MetadataResponse


def test_responses_and_headers_have_no_response_class() -> None:
    assert not hasattr(MetadataResponse, "response_class")
    assert not hasattr(RequestHeader, "response_class")


def test_request_imports_neither_its_response_nor_typing() -> None:
    code = (
        "import sys; before = set(sys.modules); from kafka_messages import MetadataRequest; MetadataRequest();"
        " new = set(sys.modules) - before; print('typing_extensions' in new, 'typing' in new,"
        " 'kafka_messages.messages.metadata_response' in new, 'kafka_messages.schema' in new)"
    )
    result = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, env={"PYTHONPATH": PATH}
    )
    assert result.stdout == "False False False False\n", result.stderr


PATH = str(import_module("pathlib").Path(kafka_messages.__file__).parents[1])


@pytest.mark.parametrize("name", message_names())
def test_structs_are_attributes_of_their_message(name: str) -> None:
    cls = message_class(name)
    module = import_module(cls.__module__)
    classes = {
        each: value
        for each, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == cls.__module__ and value is not cls and each[0] != "_"
    }
    assert {each: getattr(cls, each) for each in classes} == classes
