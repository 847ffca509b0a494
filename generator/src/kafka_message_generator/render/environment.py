"""Jinja environments."""

from __future__ import annotations

import json
from pathlib import Path

import jinja2

from kafka_message_generator.render import prose

TEMPLATES = Path(__file__).parent / "templates"


def environment(templates: Path, *, autoescape: bool) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=autoescape,
    )


ENVIRONMENT = environment(TEMPLATES, autoescape=False)


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


ENVIRONMENT.filters["toml"] = toml
ENVIRONMENT.filters["docstring"] = lambda text: prose.docstring([text], 4).replace("\n", "\n    ")
