"""Functions compiled at run time: tracebacks and debuggers show their lines."""

from __future__ import annotations

import ast
import inspect
import linecache
import traceback
from typing import Any

import pytest
from kafka_messages import DescribeTopicPartitionsResponse, EncodeError, HeartbeatRequest, MetadataResponse
from kafka_messages.connection import ClientIdentity, entities, errors

from tests.support.pages import ROOT


def compiled_frames(error: BaseException) -> list[traceback.FrameSummary]:
    linecache.checkcache()
    return [each for each in traceback.extract_tb(error.__traceback__) if each.filename.startswith("<")]


def wrong(message: Any) -> Any:
    message.topics = ["x"]
    return message


def test_traceback_shows_the_line_of_a_compiled_function() -> None:
    with pytest.raises(EncodeError) as caught:
        errors(wrong(MetadataResponse()))
    [frame] = compiled_frames(caught.value)
    assert (frame.filename, frame.name) == ("<kafka_messages Errors of MetadataResponse 1>", "traverse")
    assert frame.line == "check(x2, 'MetadataResponseTopic', ('topics[%d]', i3))"
    assert f'File "{frame.filename}", line {frame.lineno}, in traverse\n    check(' in "".join(
        traceback.format_tb(caught.tb)
    )


def test_compiled_functions_have_different_files() -> None:
    files = []
    for cls in (MetadataResponse, DescribeTopicPartitionsResponse):
        for call in (errors, entities, lambda message: message.downgraded(0)):
            with pytest.raises(EncodeError) as caught:
                list(call(wrong(cls())))
            files += [frame.filename for frame in compiled_frames(caught.value)]
    assert len(files) == len(set(files)) >= 6


def test_source_of_compiled_methods_is_found() -> None:
    for build in (HeartbeatRequest, ClientIdentity):
        assert build() == build()  # compiled on first use
    assert inspect.getsource(HeartbeatRequest.__eq__).startswith("def __eq__(self, other):\n")
    assert inspect.getsource(ClientIdentity.__init__).startswith("def __init__(self, client_id=defaults['client_id'], ")


def test_code_is_compiled_in_one_module() -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in (ROOT / "generator/src", *(ROOT / "packages").glob("*/src"))
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("compile", "eval", "exec")
    }
    assert found == {"generator/src/kafka_message_generator/runtime/_core/source.py"}
