"""Books: book values re-add from racks, prices and ages, and roll forward from period to period."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Protocol

from fleetplan import money
from fleetplan.plan.audit.cohort_money import Price, Prices, Range, book_share_at, span
from fleetplan.plan.audit.view import View, say
from fleetplan.plan.audit_report import Check, Checker

if TYPE_CHECKING:
    from fleetplan.periods import Period

AcceleratorPeriod = tuple[str, str]


class PerRack(Protocol):
    """A value per rack of one vintage in a period; ``fresh`` where it was bought and enters then."""

    def __call__(self, vintage: str, period: Period, price: Price, *, fresh: bool) -> float:
        """M USD."""


def check_roll_forward(view: View) -> Check:
    """Closing = opening + additions - depreciation - write-off, and is the next opening."""
    check = Checker("books", "closing = opening + additions - depreciation - write-off = next opening")
    closing: dict[str, float] = defaultdict(float)
    for cohort in view.scenario.fleet:
        if cohort.commissioned <= view.scenario.horizon.start:
            share = money.book_share(
                view.scenario.horizon.start - cohort.commissioned, cohort.book_life_years
            )
            closing[cohort.accelerator] += cohort.racks * cohort.purchase_price_musd_per_rack * share
    for row in sorted(view.rows("books"), key=lambda row: view.period_index[row.period]):
        place = say("books", row.accelerator, row.period)
        check.equal(f"{place}, opening", row.opening_musd, closing[row.accelerator])
        left = row.opening_musd + row.additions_musd - row.depreciation_musd - row.write_off_musd
        check.equal(f"{place}, closing", row.closing_musd, left)
        closing[row.accelerator] = row.closing_musd
    return check.result()


def check_book_values(view: View) -> Check:
    """Additions are what went into service; depreciation and closing value follow from age and price."""
    check = Checker(
        "book values", "additions, depreciation and closing from racks, price and age", absolute=1e-4
    )
    prices = Prices(view)
    added = _additions(view)
    lost = _total(view, prices, _depreciated)
    closing = _total(view, prices, _left)
    for row in view.rows("books"):
        key = (row.accelerator, row.period)
        place = say("books", *key)
        check.equal(f"{place}, additions", row.additions_musd, added.get(key, 0.0))
        within(check, f"{place}, depreciation", row.depreciation_musd, lost.get(key, Range(0.0, 0.0)))
        within(check, f"{place}, closing", row.closing_musd, closing.get(key, Range(0.0, 0.0)))
    stated = {(row.accelerator, row.period) for row in view.rows("books")}
    for key in sorted((added.keys() | closing.keys()) - stated):
        holds = added.get(key, 0.0) == 0 and closing.get(key, Range(0.0, 0.0)).high == 0
        check.true(say("books", *key), 0.0, "1 row", holds=holds)
    return check.result()


def check_retired_values(view: View) -> Check:
    """Book value and resale of what leaves follow from its price and age."""
    check = Checker(
        "retired values", "book value and resale of racks that leave, from price and age", absolute=1e-4
    )
    prices = Prices(view)
    for row in view.rows("retirements"):
        start = view.periods[view.period_index[row.period]].start
        place = say("retirements", row.hall, row.accelerator, row.vintage, row.period, row.kind)
        values = [
            row.racks * price.musd * book_share_at(row.vintage, start, price.life_years)
            for price in prices.of(row.hall, row.accelerator, row.vintage)
        ]
        within(check, f"{place}, book value", row.book_value_musd, span(values))
    return check.result()


def _additions(view: View) -> dict[AcceleratorPeriod, float]:
    added: dict[AcceleratorPeriod, float] = defaultdict(float)
    for row in view.rows("orders"):
        if row.kind == "rental":
            continue
        entry = view.entry(row.service_quarter)
        if entry is not None:
            added[row.accelerator, entry.name] += row.racks * row.price_musd_per_rack
    for cohort in view.scenario.fleet:
        entry = view.entry(str(cohort.commissioned))
        if cohort.commissioned > view.scenario.horizon.start and entry is not None:
            added[cohort.accelerator, entry.name] += cohort.racks * cohort.purchase_price_musd_per_rack
    return dict(added)


def _total(view: View, prices: Prices, value: PerRack) -> dict[AcceleratorPeriod, Range]:
    """Sum of a value per rack over the fleet, by accelerator and period."""
    totals: dict[AcceleratorPeriod, Range] = {}
    for row in view.rows("fleet"):
        period = view.periods[view.period_index[row.period]]
        paid = prices.of(row.hall, row.accelerator, row.vintage)
        enters = view.entry(row.vintage) == period
        part = span(
            [row.racks * value(row.vintage, period, price, fresh=enters and price.fresh) for price in paid]
        )
        key = (row.accelerator, row.period)
        so_far = totals.get(key, Range(0.0, 0.0))
        totals[key] = Range(so_far.low + part.low, so_far.high + part.high)
    return totals


def _depreciated(vintage: str, period: Period, price: Price, *, fresh: bool) -> float:
    share = 1.0 if fresh else book_share_at(vintage, period.start, price.life_years)
    return price.musd * share - _left(vintage, period, price, fresh=fresh)


def _left(vintage: str, period: Period, price: Price, *, fresh: bool) -> float:
    del fresh
    return price.musd * book_share_at(vintage, period.end, price.life_years)


def within(check: Checker, place: str, found: float, wanted: Range) -> None:
    """Check a value against the least and the most that it can be."""
    if wanted.low == wanted.high:
        check.equal(place, found, wanted.low)
    else:
        check.at_least(place, found, wanted.low)
        check.at_most(place, found, wanted.high)
