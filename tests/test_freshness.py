"""How much of a collection is current, as owners are told: by estimate, and by an audit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Clock, MakeFrontier, Run
from frontiers import lease_one, links, visit_all
from test_catalog import A, B, C, D, failure, fetch, page, write

from webcrawler import clock
from webcrawler.archive.catalog import Catalog
from webcrawler.commands._elsewhere import readable
from webcrawler.records import Entry
from webcrawler.refresh import Schedule, admission, collection, outlook, report
from webcrawler.refresh.admission import Admission
from webcrawler.refresh.collection import Collection

Queued = Callable[..., list[tuple[str, str]]]
NOW, DAY = 1_800_000_000.0, 86_400.0


def ago(days: float) -> float:
    return NOW - days * DAY


@pytest.fixture(autouse=True)
def stands_at_now(clock: Clock) -> None:
    clock.hold(NOW)


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        yield catalog


def told(catalog: Catalog, tmp_path: Path, **options: Any) -> dict[str, Any]:
    return report(catalog, tmp_path, "expected", **options)


def asked(entry: Entry, **request: Any) -> Entry:
    lease = entry.fetch.lease._replace(request=json.dumps(request))
    return replace(entry, fetch=replace(entry.fetch, lease=lease))


def audit(entry: Entry) -> Entry:
    return asked(entry, audit=True)


def not_modified(url: str, when: float) -> Entry:
    return Entry(fetch(url, when, "not-modified", status=304))


def test_what_was_never_checked_is_estimated_by_its_age_alone(catalog: Catalog, tmp_path: Path) -> None:
    write(catalog, page(A, ago(0), "a"), page(B, ago(90), "b"))

    found = told(catalog, tmp_path)

    # Of a page of which nothing is known half have changed after 90 days; so does one of these two, by half.
    assert found["current"]["share"] == pytest.approx(0.75, abs=1e-4)
    assert found["current"]["low"] == pytest.approx(0.75 - 1.645 * 0.25, abs=1e-3)
    assert (found["documents"], found["unchecked"], found["audit"]) == (2, 2, None)
    assert found["lately"]["a_day"] == 0 and found["lately"]["wasted"] is None
    assert [one["url"] for one in found["oldest"]] == [B, A]
    assert found["oldest"][0]["checked"] == pytest.approx(ago(90), abs=1)


def test_the_server_that_loses_most_is_named_first(catalog: Catalog, tmp_path: Path) -> None:
    write(catalog, page(A, ago(0), "a"), page(B, ago(90), "b"), page(D, ago(0), "d"), page(C, ago(10), "c"))

    servers = told(catalog, tmp_path)["servers"]

    assert [one["server"] for one in servers] == ["http://b.test", "https://c.test:8080", "http://a.test"]
    assert [one["documents"] for one in servers] == [1, 1, 2]
    assert [one["share"] for one in servers] == pytest.approx([0.5, 0.75**0.5, 1.0], abs=1e-4)
    assert len(told(catalog, tmp_path, most=1)["servers"]) == 1


def test_checks_are_counted_by_what_they_found(catalog: Catalog, tmp_path: Path) -> None:
    write(catalog, *[page(url, ago(40), url) for url in (A, B, C, D)])
    write(catalog, page(A, ago(20), A), not_modified(B, ago(20)))
    write(catalog, page(A, ago(1), "other"), not_modified(B, ago(1)), failure(C, ago(1), "timeout"))
    write(catalog, failure(D, ago(0), "not-found", status=410), failure(A, ago(0), "timeout", retry=True))

    found = told(catalog, tmp_path)

    names = ("changed", "unchanged", "not-modified", "missing", "gone", "failed")
    assert found["checks"] == dict(zip(names, (1, 1, 2, 0, 1, 1), strict=True))
    assert found["lately"]["checks"] == dict(zip(names, (1, 0, 1, 0, 1, 1), strict=True))
    assert (found["lately"]["days"], found["lately"]["a_day"]) == (2, 2)  # yesterday and today
    assert found["lately"]["wasted"] == 0.25
    assert (found["documents"], found["unchecked"]) == (3, 0)


@pytest.mark.parametrize(
    ("check", "outcome"),
    [
        (failure(A, ago(1), "not-found", status=404), "missing"),
        (failure(A, ago(1), "not-found", status=403), "failed"),  # a login or a ban
        (failure(A, ago(1), "not-indexable", status=200), "missing"),
        (failure(A, ago(1), "server-error", status=503), "failed"),
    ],
)
def test_missing_is_what_has_to_be_confirmed_and_failed_what_could_not_tell(
    catalog: Catalog, tmp_path: Path, check: Entry, outcome: str
) -> None:
    write(catalog, page(A, ago(9), "a"))
    write(catalog, check)

    assert told(catalog, tmp_path)["checks"][outcome] == 1


def test_an_audit_says_what_its_checks_found_and_no_others(catalog: Catalog, tmp_path: Path) -> None:
    write(catalog, *[page(url, ago(10), url) for url in (A, B, C, D)])
    write(catalog, audit(page(A + "new", ago(9), "no check, it is the first fetch")))
    write(catalog, audit(page(A, ago(5), A)), audit(not_modified(B, ago(5))), audit(page(C, ago(5), "other")))
    write(catalog, audit(failure(D, ago(4), "not-found", status=410)), not_modified(A + "new", ago(3)))
    write(catalog, audit(failure(B, ago(2), "timeout")))

    found = told(catalog, tmp_path)["audit"]

    # Wilson's interval of 2 in 4: .5 ± √(.6764 · (.25 + .1691)) / 1.6764
    assert (found["documents"], found["changed"], found["share"]) == (4, 2, 0.5)
    assert found["low"] == pytest.approx(0.5 - 0.3176, abs=1e-4)
    assert found["high"] == pytest.approx(0.5 + 0.3176, abs=1e-4)


def test_an_audit_counts_importance(catalog: Catalog, tmp_path: Path) -> None:
    write(catalog, page(A, ago(10), "a"), page(B, ago(10), "b"))
    collection = Collection(catalog, tmp_path, Schedule())
    collection.schedule.weights[:] = (3, 1)
    collection.store()
    write(catalog, audit(page(A, ago(5), "a")), audit(page(B, ago(5), "other")))

    assert told(catalog, tmp_path)["audit"]["share"] == 0.75


def test_a_schedule_that_the_refresher_has_stored_says_the_same(catalog: Catalog, tmp_path: Path) -> None:
    write(catalog, *[page(url, ago(40), url) for url in (A, B, C, D)])
    write(catalog, page(A, ago(20), "other"), not_modified(B, ago(20)))
    before = told(catalog, tmp_path)

    Collection(catalog, tmp_path, Schedule()).store()

    after = told(catalog, tmp_path)
    assert after["current"] == pytest.approx(before["current"], abs=1e-5)


def cut(stored: Path) -> None:
    stored.write_bytes(stored.read_bytes()[:-100])


def damage(stored: Path) -> None:
    data = bytearray(stored.read_bytes())
    data[len(data) // 2] ^= 255
    stored.write_bytes(data)


def leave_out_an_array(stored: Path) -> None:
    with np.load(stored) as arrays:
        kept = {name: arrays[name] for name in arrays.files if name != "calibration.lately"}
    np.savez(stored, **kept)


@pytest.mark.parametrize("spoil", [cut, damage, leave_out_an_array])
def test_a_stored_schedule_that_cannot_be_taken_whole_is_made_from_the_history(
    catalog: Catalog, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    write(catalog, *[page(url, ago(40), url) for url in (A, B, C, D)])
    before = told(catalog, tmp_path)
    Collection(catalog, tmp_path, Schedule()).store()

    spoil(tmp_path / "refresh/schedule.npz")

    assert told(catalog, tmp_path)["documents"] == 4
    assert told(catalog, tmp_path)["current"] == pytest.approx(before["current"], abs=1e-5)


def test_without_documents_nothing_is_current_or_stale(catalog: Catalog, tmp_path: Path) -> None:
    found = told(catalog, tmp_path)

    assert (found["documents"], found["current"], found["servers"]) == (0, None, [])


@pytest.mark.parametrize(("pause", "again"), [(0, True), (1e9, False)])
def test_false_304s_count_for_nothing_once_they_are_found_out(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pause: float, again: bool
) -> None:
    monkeypatch.setattr(collection, "AGAIN", pause)
    write(catalog, *[page(url, ago(40), url) for url in SITE[:8]])
    write(catalog, *[asked(not_modified(url, ago(20)), headers={}) for url in SITE[:4]])
    following = Collection(catalog, tmp_path, Schedule())
    following.store()
    believed = told(catalog, tmp_path)

    write(catalog, *[asked(page(url, ago(10), "new " + url), whole=True) for url in SITE[4:8]])

    found = told(catalog, tmp_path)
    times = [round((ago(0) - one["checked"]) / DAY) for one in found["oldest"]]
    assert [round((ago(0) - one["checked"]) / DAY) for one in believed["oldest"]] == [40] * 4 + [20] * 4
    assert times == [40] * 4 + [10] * 4
    following.follow()
    assert following.is_outdated() is again


def test_what_is_learnt_of_a_server_counts_from_there_on_also_when_a_history_is_read_again(
    catalog: Catalog, tmp_path: Path
) -> None:
    for days in (4, 3, 2, 1):
        write(catalog, *[page(url, ago(days), f"{days} {url}") for url in SITE])

    made = Collection(catalog, tmp_path, Schedule())

    checks, predicted, changed = made.schedule.calibration.counts.sum(axis=0)
    assert (predicted - changed) / checks > -0.85  # all had changed; with what each page told alone: -0.95


# ---- drawing


SITE = [f"http://site.test/{n}" for n in range(400)]


@pytest.fixture
def queued(catalog: Catalog, tmp_path: Path, make_frontier: MakeFrontier) -> Queued:
    """What one step of the refresher queues, in the order in which it is fetched: URL, and what it sends."""

    def act(what: str, name: str = "index") -> list[tuple[str, str]]:
        frontier = make_frontier(name=name)
        frontier.discover(links(*SITE))
        visit_all(frontier)
        frontier.refresh = what
        catalog._db.execute("UPDATE servers SET probed = 1")  # with what it answers for an impossible path
        Admission(Collection(catalog, tmp_path, Schedule()), catalog, frontier, 0.3, 0.0).step()
        leases = [lease_one(frontier) for _ in range(frontier.checks())]
        return [(lease.url, lease.request) for lease in leases]

    return act


def drawn(requests: list[tuple[str, str]]) -> list[str]:
    return [url for url, request in requests if request and "audit" in json.loads(request)]


def test_one_in_a_hundred_is_drawn_whatever_its_value_and_goes_first(
    catalog: Catalog, queued: Queued, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "OF_A_SERVER", 50)
    write(catalog, *[page(url, ago(40 if n < 200 else 1), url) for n, url in enumerate(SITE)])
    since = int(ago(0))
    lots = np.random.default_rng(since).random(len(SITE)) < admission.AUDITS

    found = queued(f"once {since}")

    assert len(found) == 50
    assert drawn(found) == [url for url, _ in found[: lots.sum()]]
    assert set(drawn(found)) == {url for url, lot in zip(SITE, lots, strict=True) if lot}


@pytest.mark.parametrize("part_of_second", [0.0, 0.3, 0.5, 0.55, 0.7, 0.98])
def test_a_refresher_without_end_draws_too_also_what_was_just_checked(
    catalog: Catalog, queued: Queued, monkeypatch: pytest.MonkeyPatch, clock: Clock, part_of_second: float
) -> None:
    write(catalog, *[page(url, NOW + 1 + part_of_second, url) for url in SITE])
    monkeypatch.setattr(admission, "AUDITS", 1.0)
    clock.hold(NOW + 1 + part_of_second + 0.015)  # after 5 ms it is worth nothing yet

    assert len(set(drawn(queued("only")))) >= admission.LEAST


def test_the_seed_says_which_are_drawn(
    catalog: Catalog, queued: Queued, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(catalog, *[page(url, ago(40), url) for url in SITE])
    monkeypatch.setattr(admission, "AUDITS", 0.5)

    def drawn_by(seed: str, name: str) -> set[str]:
        monkeypatch.setenv("WEBCRAWLER_SEED", seed)
        clock.seed()
        return set(drawn(queued("only", name)))

    assert drawn_by("1", "first") == drawn_by("1", "second") != drawn_by("2", "third")


# ---- one page


def outlook_of(catalog: Catalog, tmp_path: Path, url: str) -> dict[str, Any]:
    return outlook(catalog, tmp_path, {"REFRESH_POLICY": "expected"}, url)


def test_a_page_says_what_its_checks_found_and_how_often_it_changes(catalog: Catalog, tmp_path: Path) -> None:
    write(catalog, page(A, ago(30), "a"), page(B, ago(30), "b"))
    write(catalog, page(A, ago(20), "other"), not_modified(B, ago(20)))
    write(catalog, page(A, ago(10), "again"), not_modified(B, ago(10)))

    often, seldom = (outlook_of(catalog, tmp_path, url) for url in (A, B))

    assert [one["found"] for one in often["checks"]] == ["changed", "changed"]
    assert often["checks"][0]["fetched"] == pytest.approx(ago(10), abs=1)
    assert (often["checked"], often["changed"]) == pytest.approx((ago(10), ago(10)), abs=1)
    assert (seldom["checked"], seldom["changed"]) == pytest.approx((ago(10), ago(30)), abs=1)
    assert often["changes_every_days"] == sorted(often["changes_every_days"])
    assert often["changes_every_days"][1] < seldom["changes_every_days"][1]
    assert {often["position"], seldom["position"]} == {1, 2}
    assert (often["missing_since"], often["failing_since"]) == (None, None)


def test_a_page_that_was_asked_for_often_enough_does_not_come_again(catalog: Catalog, tmp_path: Path) -> None:
    write(catalog, page(A, ago(500), "a"))
    for days in (499, 498, 491, 469, 379, 259, 19):
        write(catalog, failure(A, ago(days), "not-found", status=410))

    found = outlook_of(catalog, tmp_path, A)

    assert found["not_before"] is None
    assert found["gone_since"] == pytest.approx(ago(499), abs=1)


def test_a_page_that_is_gone_is_asked_for_again_after_a_day(catalog: Catalog, tmp_path: Path) -> None:
    write(catalog, page(A, ago(10), "a"))
    write(catalog, failure(A, ago(2), "not-found", status=410))

    assert outlook_of(catalog, tmp_path, A)["not_before"] == pytest.approx(ago(1), abs=1)
    assert outlook_of(catalog, tmp_path, B)["checks"] == []


def test_what_a_search_of_the_web_has_found_is_not_checked(catalog: Catalog, tmp_path: Path) -> None:
    with closing(Catalog(tmp_path / "catalog.sqlite", job="a-search")) as searching:
        write(searching, page(A, ago(10), "a"))

    assert outlook_of(catalog, tmp_path, A)["why"].startswith("not checked: a search has found it")
    assert told(catalog, tmp_path)["unchecked"] == 0


def test_how_often_a_page_changes_is_told_in_hours_where_it_is_less_than_a_day() -> None:
    shown = readable({"changes_every_days": [0.2, 7.52, 93]})

    assert shown == {"changes": "about every 7.5 days (4 h to 93 days)"}


# ---- the command


def test_freshness_without_a_crawl_is_one_line(run: Run) -> None:
    answer = run("freshness")

    assert (answer.status, answer.out) == (2, "")
    assert answer.err.strip().endswith("run `webcrawler crawl index` first")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--by", "page"), "error: --by page: there is --by server"),
        (("-n", "x"), "error: -n=x is not a whole number from 0"),
    ],
)
def test_freshness_asked_for_wrongly(run: Run, options: tuple[str, ...], line: str) -> None:
    answer = run("freshness", *options)

    assert (answer.status, answer.err.strip()) == (2, line)


def test_freshness_as_text(run: Run, catalog: Catalog, tmp_path: Path) -> None:
    write(catalog, *[page(url, ago(10), url) for url in (A, B)])
    write(catalog, audit(not_modified(A, ago(0))), audit(page(B, ago(0), "other")), page(C, ago(0.23), "c"))

    text = run("freshness", folder=tmp_path).out

    assert "2 documents drawn at random in the last 30 days, 1 of them had changed" in text
    assert "50.0% (" in text
    assert "3, 1 of them were never checked" in text
    assert "checks     2.0 a day today, 50% of them found nothing new" in text
    assert f" 5 h  {C}" in text


def test_freshness_by_server_is_a_table(run: Run, catalog: Catalog, tmp_path: Path) -> None:
    write(catalog, page(A, ago(0), "a"), page(B, ago(90), "b"))

    rows = run("freshness", "--by", "server", folder=tmp_path).out.splitlines()

    assert [row.split()[-1] for row in rows] == ["server", "http://b.test", "http://a.test"]
    assert rows[1].split()[:4] == ["50.0%", "0.0%", "100.0%", "1"]


def test_freshness_as_json_is_the_report(run: Run, catalog: Catalog, tmp_path: Path) -> None:
    write(catalog, page(A, ago(90), "a"))

    found = json.loads(run("freshness", "--json", folder=tmp_path).out)

    assert found.keys() == told(catalog, tmp_path).keys()
    assert found["current"]["share"] == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize(
    ("days", "known", "line"),
    [
        (0, True, "100.0% (100.0% to 100.0%) of the collection is current"),
        (
            90,
            False,
            "not known within 3 %: 8.9% to 91.1% of the collection is current",
        ),  # of four tossed coins
    ],
)
def test_number_that_is_not_known_within_three_percent_is_not_told(
    run: Run, catalog: Catalog, tmp_path: Path, days: float, known: bool, line: str
) -> None:
    write(catalog, *[page(url, ago(days), url) for url in SITE[:4]])

    assert json.loads(run("freshness", "--json", folder=tmp_path).out)["current"]["known"] is known
    assert run("freshness", folder=tmp_path).out.startswith(f"{line} by importance, by estimate\n")
