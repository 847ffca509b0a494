"""The template environment of the pages; what is printed is escaped for HTML."""

from __future__ import annotations

from pathlib import Path

from kafka_message_generator.render.environment import environment

TEMPLATES = Path(__file__).parent / "templates"
ASSETS = Path(__file__).parent / "assets"

ENVIRONMENT = environment(TEMPLATES, autoescape=True)
