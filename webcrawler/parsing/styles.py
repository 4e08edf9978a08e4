"""What do inline styles and the page's own style sheets say of whether text can be seen?

External style sheets are not fetched. Of own ones, only selectors of one element, class or id can hide; all
others, and those of `@media`, can only say that something is shown at times, which is then taken for shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache, reduce
from typing import NamedTuple

# What is beyond hides nothing: what is read is remembered.
MAX_SHEET_CHARACTERS, MAX_STYLE_CHARACTERS = 100_000, 2_000
_FAR = 500  # pixels or letters to the left or above, from which on nothing of a text is on the screen

_TELLS = re.compile("display|visib|opacity|font-size|text-indent|position|color|background", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_BRACE = re.compile(r"[{}]")
_SIMPLE = re.compile(r"[a-z][\w-]*|(?:[a-z][\w-]*)?[.#][\w-]+", re.IGNORECASE)
_NAMES = re.compile(r"[.#][\w-]+")
_UNITS = frozenset(["", "px", "pt", "em", "rem", "%"])
_NUMBER = re.compile(r"-\s*(\d+)")
_RGB = re.compile(r"rgba?\(\s*(\d+)[\s,]+(\d+)[\s,]+(\d+)\s*\)")
_HEX = re.compile(r"#?([0-9a-f]{6}|[0-9a-f]{3})")
# HTML 4.01, 6.5: the colours that have had names from the start; others are compared by their names.
_NAMED = """ffffff white, 000000 black, ff0000 red, 008000 green, 0000ff blue, ffff00 yellow, 808080 gray,
    808080 grey, c0c0c0 silver, 800000 maroon, 808000 olive, 00ff00 lime, 00ffff aqua, 008080 teal,
    000080 navy, ff00ff fuchsia, 800080 purple"""
_COLOURS = {pair[-1]: pair[0] for pair in map(str.split, _NAMED.split(","))}
_UNSAID = frozenset(["inherit", "initial", "none", "revert", "transparent", "unset"])
UNKNOWN = "?"  # a colour that is not known here: a picture, a variable, one of another rule


class Style(NamedTuple):
    """What is declared; properties by their names, "position" for what stands far off the screen."""

    hides: frozenset[str] = frozenset()
    shows: frozenset[str] = frozenset()  # properties that are set to something that hides nothing
    color: str = ""  # "ffffff"; "": not said
    background: str = ""

    def then(self, other: Style) -> Style:
        """Both; colours of the other win."""
        return Style(
            self.hides | other.hides,
            self.shows | other.shows,
            other.color or self.color,
            other.background or self.background,
        )


SAYS_NOTHING = Style()


@lru_cache(1024)
def style_of(declarations: str) -> Style:
    """Read a style attribute, or the block of a rule; SAYS_NOTHING where nothing of it matters here."""
    if not _TELLS.search(declarations):
        return SAYS_NOTHING
    pairs = (part.partition(":") for part in declarations.lower().split(";"))
    said = {name.strip(): value.partition("!")[0].strip() for name, colon, value in pairs if colon}
    told = {name: hides(said[name]) for name, hides in _HIDING.items() if name in said}
    if "position" in said:
        sides = (said.get(side, "") for side in ("left", "top", "right", "bottom"))
        told["position"] = said["position"] in ("absolute", "fixed") and any(map(_is_far, sides))
    if any("animation" in name or "transition" in name for name in said):
        told = {name: hides for name, hides in told.items() if name == "display"}  # it fades in
    background = said.get("background-color") or said.get("background", "")
    return Style(
        frozenset(name for name, hides in told.items() if hides),
        frozenset(name for name, hides in told.items() if not hides),
        colour(said.get("color", "")),
        UNKNOWN if "(" in background and "rgb" not in background else _first(background),
    )


def colour(value: str) -> str:
    """Return six hexadecimal digits, else a name, UNKNOWN for what is neither; "" where nothing is said."""
    value = value.strip().lower()
    if not value or value in _UNSAID:
        return ""
    if value in _COLOURS:
        return _COLOURS[value]
    if rgb := _RGB.fullmatch(value):
        return "".join(f"{min(255, int(one)):02x}" for one in rgb.groups())
    if digits := _HEX.fullmatch(value):
        return digits[1] if len(digits[1]) == 6 else "".join(2 * one for one in digits[1])
    return value if value.isalpha() else UNKNOWN


@lru_cache(16)  # the pages of a server mostly have the same ones
def hiding_rules(css: str) -> dict[str, Style]:
    """Return what a style sheet says, by its simple selectors: `p`, `.name`, `#id`, `p.name`, `p#id`.

    Empty where nothing is hidden by it: neither by a rule, nor by colours that a text and a background share.
    """
    found: dict[str, Style] = {}
    for selectors, block in _rules(_COMMENT.sub(" ", css)):
        style = style_of(block[:MAX_STYLE_CHARACTERS])
        for selector in selectors.split(","):
            for key, said in _keys(selector.strip(), style):
                if said != SAYS_NOTHING:
                    found[key] = found.get(key, SAYS_NOTHING).then(said)
    colours = {style.color for style in found.values()} - {"", UNKNOWN}
    share = not colours.isdisjoint(style.background for style in found.values())
    return found if share or any(style.hides for style in found.values()) else {}


def _rules(css: str, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield selectors and block of each rule; selectors within `@media` and the like are no simple ones."""
    depth = start = 0
    selectors = ""
    for brace in _BRACE.finditer(css):
        if brace[0] == "{":
            if not depth:
                selectors, start = css[start : brace.start()].rpartition(";")[2].strip(), brace.end()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                block, start = css[start : brace.start()], brace.end()
                if not selectors.startswith("@"):
                    yield ",".join(prefix + one for one in selectors.split(",")), block
                elif not prefix:
                    yield from _rules(block, "@ ")


def _keys(selector: str, style: Style) -> Iterator[tuple[str, Style]]:
    if _SIMPLE.fullmatch(selector):
        yield selector, style
        return
    # what holds only at times shows, and has a colour of which nothing is known
    color, background = (one and UNKNOWN for one in (style.color, style.background))
    for name in _NAMES.findall("".join(selector.split()[-1:])):
        yield name, Style(frozenset(), style.shows, color, background)


def joined(rules: Mapping[str, Style], more: Mapping[str, Style]) -> dict[str, Style]:
    """The rules of two style sheets, one behind the other."""
    return {**rules, **{key: rules.get(key, SAYS_NOTHING).then(style) for key, style in more.items()}}


def applied(rules: Mapping[str, Style], tag: str, classes: str, id: str) -> Style:
    """Return what rules say of an element. What one of them shows is not hidden by another."""
    names = [f".{name}" for name in classes.split()]
    if id:
        names.append(f"#{id}")
    said = [rules[key] for key in (tag, *names, *(tag + name for name in names)) if key in rules]
    found = reduce(Style.then, said, SAYS_NOTHING)
    return found._replace(hides=found.hides - found.shows) if said else SAYS_NOTHING


def _first(background: str) -> str:
    """The colour among the values of `background`."""
    if background.startswith("rgb"):
        return colour(background)
    return next((found for one in background.split() if (found := colour(one))), "")


def _is_nothing(value: str) -> bool:
    return value != "" and value.strip("+-0.") in _UNITS


def _is_far(value: str) -> bool:
    number = _NUMBER.match(value)
    return number is not None and int(number[1][:9]) >= _FAR


_HIDING = {
    "display": "none".__eq__,
    "visibility": {"hidden", "collapse"}.__contains__,
    "opacity": _is_nothing,
    "font-size": _is_nothing,
    "text-indent": _is_far,
}
