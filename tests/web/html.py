"""Looking into one element of an answer, found by its id; and what a whole page weighs."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

from django.contrib.staticfiles import finders
from django.http import HttpResponse

HEAVIEST = 150_000  # bytes of a page with its style, scripts and icon, uncached (spec 6.4)
BLOCKS = {"td", "th", "li", "p", "dt", "dd", "div"}  # their texts are apart from each other
VOID = {"br", "hr", "img", "input", "link", "meta", "rect", "path", "use", "circle"}


class _Finder(HTMLParser):
    def __init__(self, wanted: str) -> None:
        super().__init__()
        self.wanted, self.depth, self.found, self.text = wanted, 0, False, ""
        self.attributes: dict[str, str | None] = {}

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if self.depth and tag not in VOID:
            self.depth += 1
        elif not self.found and ("id", self.wanted) in attributes:
            self.found, self.attributes = True, dict(attributes)
            self.depth = 0 if tag in VOID else 1

    def handle_endtag(self, tag: str) -> None:
        if self.depth and tag not in VOID:
            self.depth -= 1
            self.text += " " if tag in BLOCKS else ""

    def handle_data(self, data: str) -> None:
        if self.depth:
            self.text += data


def _find(response: HttpResponse, element_id: str) -> _Finder:
    finder = _Finder(element_id)
    finder.feed(response.content.decode())
    assert finder.found, f"no element #{element_id}"
    return finder


def text_of(response: HttpResponse, element_id: str) -> str:
    return " ".join(_find(response, element_id).text.split())


def attributes_of(response: HttpResponse, element_id: str) -> dict[str, str | None]:
    return _find(response, element_id).attributes


def has(response: HttpResponse, element_id: str) -> bool:
    return f'id="{element_id}"' in response.content.decode()


def weight_with_files(response: HttpResponse) -> int:
    """Bytes, with every style, script and icon that the page asks for."""
    files = re.findall(r'(?:src|href)="/static/([^"]+)"', response.content.decode())
    assert {Path(file).suffix for file in files} == {".css", ".js", ".svg"}
    return len(response.content) + sum(Path(str(finders.find(file))).stat().st_size for file in files)
