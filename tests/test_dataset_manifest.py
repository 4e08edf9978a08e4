"""Which parts of a dataset are in force is said by manifests alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from obstore.exceptions import AlreadyExistsError

from webcrawler.dataset import manifest
from webcrawler.dataset.manifest import Manifest, Part
from webcrawler.errors import BadInput
from webcrawler.objects import open_store

PART = Part("urls", "v1/urls/a/1.parquet", 3, 4, "0" * 64, 0, 1, 7)
FIRST = Manifest("a", 9, 0, "c1", 7, 3, (PART,), (("v1/urls/a/0.parquet", 5.5),))


@pytest.fixture
def store(tmp_path: Path) -> manifest.Store:
    return open_store(str(tmp_path), "DATASET_URL")


def test_a_store_without_manifests_has_no_home(store: manifest.Store) -> None:
    assert manifest.newest(store, "here") == []


def test_the_manifest_with_the_highest_number_is_in_force_for_each_home(store: manifest.Store) -> None:
    tenth, other = replace(FIRST, number=10, seq=12), replace(FIRST, home="b", number=1)
    for one in (tenth, FIRST, other):
        manifest.put(store, "here", one)

    assert manifest.newest(store, "here") == [tenth, other]
    assert manifest.parts_of([tenth, other], "urls") == [PART, PART]
    assert manifest.parts_of([tenth, other], "links") == []


def test_of_two_that_write_the_same_number_one_is_refused(store: manifest.Store) -> None:
    manifest.put(store, "here", FIRST)

    with pytest.raises(AlreadyExistsError):
        manifest.put(store, "here", replace(FIRST, seq=8))

    assert manifest.newest(store, "here") == [FIRST]


def test_a_manifest_of_a_newer_version_is_refused_in_one_line(store: manifest.Store, tmp_path: Path) -> None:
    manifest.put(store, "here", FIRST)
    file = tmp_path / FIRST.path
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": manifest.FORMAT + 1, "more": 1}))

    with pytest.raises(BadInput, match=r"^here/v1/manifest/a/0000000009.json is of a newer version \(2\)"):
        manifest.newest(store, "here")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": "x"}', '{"format": 1, "parts": [3]}'])
def test_what_is_no_manifest_is_refused_in_one_line(store: manifest.Store, tmp_path: Path, text: str) -> None:
    manifest.put(store, "here", FIRST)
    (tmp_path / FIRST.path).write_text(text)

    with pytest.raises(BadInput, match="is no manifest of a dataset") as refused:
        manifest.newest(store, "here")

    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("data", "said"), [(b"abc", "damaged: it has 3 bytes of 4"), (None, "is missing")])
def test_half_a_part_is_refused_in_one_line(store: manifest.Store, data: bytes | None, said: str) -> None:
    if data is not None:
        store.put(PART.path, data)

    with pytest.raises(BadInput, match=said):
        manifest.refuse_halves(store, "here", [PART])


def test_a_whole_part_is_taken(store: manifest.Store) -> None:
    store.put(PART.path, b"abcd")

    manifest.refuse_halves(store, "here", [PART])
