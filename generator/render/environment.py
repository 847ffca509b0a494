"""The one template environment."""

from __future__ import annotations

import json
from pathlib import Path

import jinja2

from kafka_message_generator.render import prose

TEMPLATES = Path(__file__).parent / "templates"

ENVIRONMENT = jinja2.Environment(
    loader=jinja2.FileSystemLoader(TEMPLATES),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,
)


def toml(value: object) -> str:
    """A text, list or table of texts as TOML, which writes texts as JSON does."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


ENVIRONMENT.filters["toml"] = toml
ENVIRONMENT.filters["docstring"] = lambda text: prose.docstring([text], 4).replace("\n", "\n    ")
