"""The plan as text, which the native core interprets."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_message_generator.definitions import load
from kafka_message_generator.plan.text import text_of
from tests.generator.test_plan import FOLDER, PLANS
from tests.support.building import plan_of
from tests.support.goldens import GOLDENS, matches_golden, stale_goldens
from tests.support.plan_text import parsed
from tests.support.specs import field, message

ROOT = Path(__file__).parents[2]
TEXTS = GOLDENS / "plan_texts"


@pytest.mark.parametrize("name", PLANS)
def test_parsed_text_equals_the_plan(name: str) -> None:
    plan = parsed(text_of(plan_of(PLANS[name])))
    assert str(plan) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PLANS)
def test_plan_text_matches_golden(name: str) -> None:
    matches_golden(TEXTS / f"{name}.txt", text_of(plan_of(PLANS[name])))


def test_every_golden_plan_text_is_used() -> None:
    assert stale_goldens(TEXTS, (f"{name}.txt" for name in PLANS)) == []


@pytest.mark.parametrize(("specs", "bound"), [("kafka", 150_000), ("proposals", 15_000)])
def test_plan_texts_of_all_messages_parse_and_are_small(specs: str, bound: int) -> None:
    plans = load(ROOT / "specs" / specs).plans
    texts = {plan.name: text_of(plan) for plan in plans}
    assert [plan.name for plan in plans if str(parsed(texts[plan.name])) != str(plan)] == []
    assert sum(map(len, texts.values())) < bound


def test_special_characters_in_defaults_are_escaped() -> None:
    definition = message(
        field("A", "string", default="~"),
        field("B", "string", default="a b=c/%\n☃"),
        field("C", "float64", default="-0.5"),
        field("D", "bool", default="true"),
        field("E", "uuid", default="AAAAAAAAAAAAAAAAAAAAAQ"),
        field("F", "string", default="null", nullableVersions="0+"),
        validVersions="0",
        flexibleVersions="none",
    )
    assert text_of(plan_of(definition)) == (
        "1\n"
        ":Probe a/s=%7E b/s=a%20b%3Dc%2F%25%0A%E2%98%83 c/d=-0.5 d/t=1 e/u=00000000000000000000000000000001 f/s?=~\n"
        "0 0 1 2 3 4 5n\n"
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("2\n", "line 1: format 2, only 1 is known"),
        ("1\n:Probe a/i\n0 1\n", "line 3: '0 1': tuple index out of range"),
        ("1\n:Probe a/i\n0 0?\n", "line 3: '0 0?': '0?' is not understood"),
        ("1\n:Probe a-i\n", "line 2: ':Probe a-i': 'a-i' is not understood"),
        ("1\n:Probe a/[@B\n0 0@0\n", "line 3: '0 0@0': list index out of range"),
    ],
)
def test_invalid_plan_text_raises_value_error(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=r"^line") as caught:
        parsed(text)
    assert str(caught.value) == problem
