"""Testees that crash, hang, flood the pipe, or answer nonsense: their cases fail, the others run."""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from kafka_conformance import pipe
from kafka_conformance.codec_case import CodecCase
from kafka_conformance.codec_run import run_codec
from kafka_conformance.pipe import ProgramOutput
from kafka_conformance.result import Report

BROKEN = Path(__file__).parent / "testees" / "broken.py"
CASES = [
    CodecCase(
        id=f"TEST.{number}",
        rule="The bytes are written again.",
        source="none",
        name="HeartbeatRequest",
        version=0,
        data=(data := bytes.fromhex("000161 00000001 0001") + number.to_bytes(1, "big")),
        expected=data,
    )
    for number in range(1, 8)
]


def run(*command: str, cases: list[CodecCase] = CASES, timeout: float = 0.5) -> Report:
    return asyncio.run(run_codec(command, cases, timeout))


def outcomes(report: Report) -> dict[str, str]:
    return {each.id.removeprefix("TEST."): each.problem for each in report.results if each.outcome == "failed"}


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ("crash", "the testee ended with status 3: out of memory … note: run again"),
        ("hang", "no answer within 0.5 s"),
        ("flood", "a line of more than 16,777,216 bytes"),
        ("half a line", "the testee ended with status 0"),
        ("text", "the answer is not JSON: 'decoding …'"),
        ("a number", "the answer does not have \"id\": 3: '3\\n'"),
        ("another id", 'the answer does not have "id": 3: \'{"id": -1}\\n\''),
    ],
)
def test_a_failure_of_the_testee_fails_its_case_only(how: str, problem: str) -> None:
    timeout = 0.5 if how == "hang" else 10
    failed = outcomes(run(sys.executable, str(BROKEN), how, timeout=timeout))
    assert list(failed) == ["3", "6"]
    assert failed["3"] == problem


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("import time; time.sleep(60)", "no answer within 0.1 s"),
        ("import sys; [print('[' * 100000, flush=True) for line in sys.stdin]", "the answer is not JSON: '[[[["),
    ],
)
def test_a_program_that_answers_nothing_ends_in_time(program: str, problem: str) -> None:
    describe = (
        'import sys; sys.stdin.readline(); print(\'{"id": 0, "name": "n", "operations": ["rewrite"]}\', flush=True); '
    )
    large = [replace(each, data=bytes(1 << 16)) for each in CASES * 10]
    begin = time.monotonic()
    report = run(sys.executable, "-c", describe + program, cases=large, timeout=0.1)
    assert report.results[0].problem.startswith(problem)
    assert time.monotonic() - begin < 30


def test_much_output_to_stderr_is_harmless() -> None:
    assert outcomes(run(sys.executable, str(BROKEN), "errors", timeout=10)) == {}


def test_a_testee_that_always_fails_is_given_up(tmp_path: Path) -> None:
    program = tmp_path / "testee.py"
    describe = '{"id": 0, "name": "n", "operations": ["rewrite"]}'
    program.write_text(f"import sys\nif '\"describe\"' in sys.stdin.readline(): print('{describe}')\n")
    cases = [replace(each, id=f"{each.id}.{number}") for number in range(10) for each in CASES]
    report = run(sys.executable, str(program), cases=cases, timeout=10)
    problems = [each.problem for each in report.results]
    assert problems[0] == "the testee ended with status 0"
    assert [each.outcome for each in report.results[-1:]] == ["not run"]
    assert problems[-1] == "not sent, as the testee failed 20 times in a row"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            '{"id": 0}',
            'the answer to "describe" needs "name" and "operations" of rewrite, decode, encode, not {"id": 0}',
        ),
        (
            '{"id": 0, "name": "n", "operations": ["read"]}',
            'the answer to "describe" needs "name" and "operations" of rewrite, decode, encode, '
            'not {"id": 0, "name": "n", "operations": ["read"]}',
        ),
        (
            '{"id": 0, "name": "n", "operations": ["decode"]}',
            'the operation "rewrite" is mandatory; the testee has decode',
        ),
        ("hello", "the testee did not describe itself: the answer is not JSON: 'hello'"),
        ("", "the testee did not describe itself: the answer is not JSON: ''"),
    ],
)
def test_a_testee_must_describe_itself(tmp_path: Path, answer: str, message: str) -> None:
    program = tmp_path / "testee.py"
    program.write_text(f"input()\nprint({answer!r})\n")
    with pytest.raises(pipe.ProgramError) as error:
        run(sys.executable, str(program), timeout=10)
    assert str(error.value) == message


def test_a_program_that_does_not_exist() -> None:
    with pytest.raises(pipe.ProgramError) as error:
        run("no-such-program")
    assert str(error.value) == "cannot start no-such-program: No such file or directory"


def test_the_programs_of_a_testee_are_killed_too(tmp_path: Path) -> None:
    program = tmp_path / "testee.sh"
    program.write_text(f"{sys.executable} {BROKEN} hang\n")
    begin = time.monotonic()
    assert list(outcomes(run("sh", str(program)))) == ["3", "6"]
    assert time.monotonic() - begin < 15


GO = """panic: runtime error: index out of range [3] with length 2

goroutine 1 [running]:
main.decode(...)
\t/src/main.go:7
exit status 2"""
GROUP = """  + Exception Group Traceback (most recent call last):
  |   File "x.py", line 1, in <module>
  |     raise ExceptionGroup("several", [ValueError("bad")])
  | ExceptionGroup: several (1 sub-exception)
  +-+---------------- 1 ----------------
    | ValueError: bad
    +------------------------------------"""
PYTHON = """Traceback (most recent call last):
  File "x.py", line 2, in <module>
    raise kafka.errors.NodeNotReadyError("not ready") from None
kafka.errors.NodeNotReadyError: not ready
sys:1: ResourceWarning: unclosed socket"""
NODE = """/src/x.js:3
    throw new TypeError('bad')
    ^

TypeError: bad
    at main (/src/x.js:3:11)

Node.js v22.0.0"""
JAVA = """SLF4J: no binding
Exception in thread "main" java.lang.IllegalStateException: bad
\tat X.main(X.java:3)"""
CHAIN = """Traceback (most recent call last):
  File "x.py", line 2, in <module>
KeyError: 'a'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "x.py", line 4, in <module>
RuntimeError: cannot connect"""
RUST = """thread 'main' panicked at src/main.rs:4:5:
index out of bounds: the len is 3 but the index is 5
note: run with `RUST_BACKTRACE=1`"""
KAFKAJS = """node:internal/process/promises:288
            ^

KafkaJSNumberOfRetriesExceeded: The coordinator is not aware of this member
    at X
  cause: KafkaJSProtocolError: x"""


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        (GO, "panic: runtime error: index out of range [3] with length 2"),
        (
            "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1",
            "fatal error: all goroutines are asleep - deadlock!",
        ),
        (GROUP, "ValueError: bad"),
        (PYTHON, "kafka.errors.NodeNotReadyError: not ready"),
        ("Traceback (most recent call last):\n  x()\nAssertionError", "AssertionError"),
        (NODE, "TypeError: bad"),
        (JAVA, 'Exception in thread "main" java.lang.IllegalStateException: bad'),
        (CHAIN, "RuntimeError: cannot connect"),
        (
            CHAIN.replace("The above exception was", "During handling of the above exception, another"),
            "RuntimeError: cannot connect",
        ),
        (RUST, "index out of bounds: the len is 3 but the index is 5"),
        ("thread 'main' panicked at 'bad', src/main.rs:4:5", "'bad', src/main.rs:4:5"),
        (KAFKAJS, "KafkaJSNumberOfRetriesExceeded: The coordinator is not aware of this member"),
        ("Traceback (most recent call last):\n  x()\nclient.Timeout: 5 s\nend", "client.Timeout: 5 s"),
        ("start\n\x1b[31mTypeError: bad\x1b[0m\n  at x", "TypeError: bad"),
        ("start\nUnhandled exception. System.X: bad\n   at Program", "Unhandled exception. System.X: bad"),
        ("start\nx.rb:1:in `f': bad (X)\n\tfrom x.rb:4:in `<main>'", "x.rb:1:in `f': bad (X)"),
        (
            "start\nPHP Fatal error:  Uncaught X: bad in x.php:3\n#0 {main}",
            "PHP Fatal error:  Uncaught X: bad in x.php:3",
        ),
        ("terminate called after throwing an instance of 'X'\n  what():  bad\nAborted", "what():  bad"),
        ("usage: client\n  --help\nmissing argument", "usage: client … missing argument"),
        ("one line", "one line"),
        ("Error: " + "x" * 300, "Error: " + "x" * 193),
        ("", ""),
    ],
)
def test_a_crash_is_quoted_by_its_telling_line(text: str, quoted: str) -> None:
    assert output(text.encode()).quoted == quoted


def output(*chunks: bytes) -> ProgramOutput:
    async def read() -> ProgramOutput:
        stream = asyncio.StreamReader()
        for each in chunks:
            stream.feed_data(each)
        stream.feed_eof()
        found = ProgramOutput()
        await found.read(stream)
        return found

    return asyncio.run(read())


def test_the_middle_of_a_long_output_is_left_out() -> None:
    found = output(b"first\n", b"x" * 100_000, b"\nlast\xff")
    assert found.text.startswith("first\nxxx")
    assert found.text.endswith("xxx\nlast\N{REPLACEMENT CHARACTER}")
    assert "\n… 67,244 bytes left out …\n" in found.text


def test_the_report_has_the_standard_error_of_a_crash() -> None:
    report = run(sys.executable, str(BROKEN), "crash")
    failed = [each for each in report.results if each.outcome == "failed"]
    assert [each.stderr for each in failed] == ["out of memory\nnote: run again"] * 2
    assert {each.stderr for each in report.results if each.outcome == "passed"} == {""}
