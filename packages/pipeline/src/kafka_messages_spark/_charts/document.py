"""SVG files and the style sheet."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from importlib.resources import files

from .formatting import Markup, element
from .model import Picture
from .svg import LETTER, WIDTH, kinds_of, render, sample_of

# Maximum characters per line of a remark.
_LINE = 140


def document(title: str, pictures: Sequence[Picture]) -> str:
    shapes: list[Markup] = []
    y = 0.0
    for picture in pictures:
        shapes.append(element("text", picture.title, x=8, y=y + 22, class_="title"))
        keys = _legend(picture, y + 32)
        content, height = render(picture)
        y += 62 if keys else 34
        shapes += [*keys, element("g", *content, transform=f"translate(0,{y})")]
        y += height + 18
        for line in textwrap.wrap(picture.remark, _LINE):
            shapes.append(element("text", line, x=8, y=y, class_="tick"))
            y += 16
    ground = element("rect", width=WIDTH, height=y, class_="ground")
    lines = (element("style", Markup(_resolved(styles()))), ground, *shapes)
    root = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {WIDTH} {y}", "width": WIDTH}
    svg = element("svg", *(Markup(f"\n{line}") for line in lines), **root, role="img", aria_label=title)
    return f"{svg}\n"


def styles() -> str:
    return files(__package__).joinpath("charts.css").read_text("utf-8")


def _resolved(css: str) -> str:
    variables, _, rules = css.partition("\n.")
    light, dark = (_with_colors(f".{rules}", colors) for colors in variables.split("@media"))
    font = "text { font: 12px system-ui, sans-serif; }"
    return f"\n{font}\n{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n"


def _with_colors(rules: str, variables: str) -> str:
    colors: dict[str, str] = dict(re.findall(r"--(\w+): (#\w+)", variables))
    return re.sub(r"var\(--(\w+)\)", lambda match: colors[match[1]], rules)


def _legend(picture: Picture, y: float) -> list[Markup]:
    shapes = []
    x = 8.0
    for name, style in kinds_of(picture).items():
        key = element("g", sample_of(picture, style), transform=f"translate({x},{y})")
        shapes += [key, element("text", name, x=x + 22, y=y + 11, class_="beside")]
        x += 40 + len(name) * LETTER
    return shapes
