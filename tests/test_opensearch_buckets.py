"""Hit lists in buckets come out as they went in, and a prefix leads to the bucket of its terms."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webcrawler.opensearch.buckets import BUCKETS, LETTERS, bucket, decoded, filled, opened

TERMS = st.text(min_size=1, max_size=12)


@given(st.dictionaries(st.sampled_from(["title", "body"]), st.dictionaries(TERMS, st.binary(max_size=6))))
def test_what_is_put_into_buckets_comes_out(lists: dict[str, dict[str, bytes]]) -> None:
    found = opened({name: one.rstrip("=") for name, one in filled(lists).items()})  # as a cluster gives them

    assert all(
        found[bucket(term)][field][term] == hits for field, by in lists.items() for term, hits in by.items()
    )
    assert sum(len(by) for some in found.values() for by in some.values()) == sum(map(len, lists.values()))


@given(TERMS)
def test_a_term_is_in_the_bucket_of_its_first_letters(term: str) -> None:
    beginnings = {bucket(term[:length]) for length in range(LETTERS, len(term))}

    assert bucket(term) in BUCKETS
    assert beginnings <= {bucket(term)}


@given(st.binary(max_size=9))
def test_padding_may_be_left_out(data: bytes) -> None:
    value = next(iter(filled({"body": {"a": data}}).values()))

    assert decoded(value.rstrip("=")) == decoded(value)
