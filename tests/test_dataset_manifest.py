"""Which parts of a dataset are in force is said by manifests alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from webcrawler.dataset import manifest
from webcrawler.dataset.manifest import Manifest, Part
from webcrawler.dataset.place import FORMAT, Place
from webcrawler.errors import BadInput

PART = Part("urls", "v1/urls/a/1.parquet", 3, 4, 0)
FIRST = Manifest("a", 9, 0, "c1", 7, 3, (PART,), (("v1/urls/a/0.parquet", 5.5),))
FILE = "v1/manifest/a/0000000009.json"


def put(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / PART.path
    file.parent.mkdir(parents=True)
    file.write_bytes(data)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(str(tmp_path))


def test_a_store_without_manifests_has_no_home(place: Place) -> None:
    assert manifest.newest(place) == []


def test_the_manifest_with_the_highest_number_is_in_force_for_each_home(place: Place) -> None:
    tenth, other = replace(FIRST, number=10, seq=12), replace(FIRST, home="b", number=1)
    for one in (tenth, FIRST, other):
        manifest.put(place, one)

    assert manifest.newest(place) == [tenth, other]
    assert manifest.parts_of([tenth, other], "urls") == [PART, PART]
    assert manifest.parts_of([tenth, other], "links") == []


def test_of_two_that_write_the_same_number_one_is_refused(place: Place) -> None:
    assert manifest.put(place, FIRST)

    assert not manifest.put(place, replace(FIRST, seq=8))

    assert manifest.newest(place) == [FIRST]


def test_a_manifest_of_a_newer_version_is_refused_in_one_line(place: Place, tmp_path: Path) -> None:
    manifest.put(place, FIRST)
    file = tmp_path / FILE
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": FORMAT + 1, "more": 1}))

    with pytest.raises(BadInput, match=r"/v1/manifest/a/0000000009.json is of a newer version \(2\)"):
        manifest.newest(place)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": "x"}', '{"format": 1, "parts": [3]}'])
def test_what_is_no_manifest_is_refused_in_one_line(place: Place, tmp_path: Path, text: str) -> None:
    manifest.put(place, FIRST)
    (tmp_path / FILE).write_text(text)

    with pytest.raises(BadInput, match="is damaged") as refused:
        manifest.newest(place)

    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("data", "said"), [(b"abc", "damaged: it has 3 bytes of 4"), (None, "is missing")])
def test_half_a_part_is_refused_in_one_line(
    place: Place, tmp_path: Path, data: bytes | None, said: str
) -> None:
    if data is not None:
        put(tmp_path, data)

    with pytest.raises(BadInput, match=said):
        manifest.refuse_halves(place, [PART])


def test_a_whole_part_is_taken(place: Place, tmp_path: Path) -> None:
    put(tmp_path, b"abcd")

    manifest.refuse_halves(place, [PART])
