"""The Jinja environment of the templates, with HTML escaping."""

from __future__ import annotations

import re
from pathlib import Path

from markupsafe import Markup, escape

from kafka_message_generator.render.environment import environment

TEMPLATES = Path(__file__).parent / "templates"
ASSETS = Path(__file__).parent / "assets"

ENVIRONMENT = environment(TEMPLATES, autoescape=True)


def code(text: str) -> Markup:
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def breakable(name: str) -> Markup:
    return Markup(re.sub(r"([_(])", r"\1<wbr>", str(escape(name))))


ENVIRONMENT.filters["code"] = code
ENVIRONMENT.filters["breakable"] = breakable
