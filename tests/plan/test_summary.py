"""The summary: this quarter's orders, where power is full, what is short, cost and evidence."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fleetplan.figures import Figure
from fleetplan.inputs.scenario import Scenario
from fleetplan.plan.plan import Plan
from fleetplan.plan.words import join, megawatts, money, number, percent


def test_orders_of_this_quarter_are_named_by_site_largest_first(plan: Plan) -> None:
    (order,) = plan.summary().orders_now
    assert (order.racks, order.sites, order.order_by) == (
        12.0,
        (("alpha", 8.0), ("beta", 4.0)),
        "2026-12-31",
    )
    assert "order 12 new racks (alpha 8, beta 4) by 2026-12-31" in plan.summary().lines()[0]


def test_commitments_are_not_orders_and_the_next_order_is_named(plan_with: Callable[..., Plan]) -> None:
    committed = (
        "new",
        "beta",
        "beta-air",
        "2027Q1",
        "committed",
        "2026Q4",
        "2026Q4",
        "2026-12-31",
        1,
        4,
        1.0,
        4.0,
    )
    later = ("new", "beta", "beta-air", "2027Q3", "new", "2027Q2", "2027Q2", "2027-06-30", 1, 4, 1.0, 4.0)
    summary = plan_with(orders=[committed, later]).summary()
    assert summary.orders_now == ()
    assert summary.next_order is not None
    assert "nothing to order. Next: 4 new racks (beta 4) by 2027-06-30" in summary.lines()[0]


def test_a_site_is_full_when_not_one_more_lot_fits(plan: Plan) -> None:
    # a lot of new is 4 racks x 10 kW = 0.04 MW; alpha has 0.02 MW left from 2027Q1
    (full,) = plan.summary().full_sites
    assert (full.site, full.since, full.until) == ("alpha", "2027Q1", None)


def test_short_work_is_told_with_its_worst_share(plan: Plan) -> None:
    summary = plan.summary()
    (short,) = summary.short
    assert (short.workload, short.since, short.worst_period) == ("ads", "2027Q3", "2027Q3")
    assert short.worst_share == pytest.approx(0.2)
    assert summary.served_share == pytest.approx(0.95)  # a fifth of one of four equal quarters is short
    assert "ads from 2027Q3 (worst 20 % in 2027Q3)" in " ".join(summary.lines())


def test_cost_parts_add_up_to_the_ledger(plan: Plan) -> None:
    summary = plan.summary()
    assert sum(npv for _, npv in summary.parts) == pytest.approx(plan.ledger["npv_musd"].sum())
    assert [item for item, _ in summary.parts] == ["capex", "energy", "end value"]


def test_what_is_committed_already_is_said(plan_with: Callable[..., Plan]) -> None:
    rows = [
        ("capex", "2026Q4", "new", "hall, committed", 8.0, 0.5, 4.0, True),
        ("capex", "2026Q4", "new", "hall", 4.0, 0.5, 2.0, False),
    ]
    summary = plan_with(ledger=rows).summary()
    assert summary.sunk_musd == pytest.approx(4.0)
    assert "4 M USD of it is committed already" in " ".join(summary.lines())


def test_assumed_share_follows_the_evidence_of_prices(
    plan_with: Callable[..., Plan], scenario: Scenario, scenario_with: Callable[..., Scenario]
) -> None:
    sites = {n: s.model_copy(update={"status": "published"}) for n, s in scenario.sites.items()}
    # gross 7 M USD: capex 6 at an assumed price, energy 1 at a published one
    summary = plan_with(scenario_with(sites=sites)).summary()
    assert summary.assumed_share == pytest.approx(6 / 7)


def test_figures_are_ranked_by_what_their_interval_moves(
    plan_with: Callable[..., Plan], scenario_with: Callable[..., Scenario]
) -> None:
    figures = {
        "sites[alpha].energy_price_usd_per_mwh": Figure("energy", 50.0, "USD/MWh", "assumed", 25.0, 100.0),
        "finance.discount_rate": Figure("discount_rate", 0.08, "1/yr", "published", 0.06, 0.1),
    }
    top = plan_with(scenario_with(figures=figures)).summary().figures
    # price of new: 6 M USD of capex x (0.5 to 1.5); energy: 1 M USD x (0.5 to 2); published ones are left out
    assert [lever.path for lever in top] == [
        "supply[new,*].price_musd_per_rack",
        "sites[alpha].energy_price_usd_per_mwh",
    ]
    assert (top[0].at_low_musd, top[0].at_high_musd) == pytest.approx((-3.0, 3.0))
    assert (top[1].at_low_musd, top[1].at_high_musd) == pytest.approx((-0.5, 1.0))


def test_proof_line_says_how_much_cheaper_a_plan_could_be(plan: Plan) -> None:
    assert "no plan is more than 0.03 M USD (0.5 %) cheaper" in plan.summary().lines()[-1]


def test_a_plan_shows_itself_in_a_notebook_with_names_escaped(
    plan_with: Callable[..., Plan], scenario_with: Callable[..., Scenario]
) -> None:
    html = plan_with(scenario_with(title="<script>alert(1)</script>"))._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_changing_a_table_does_not_change_the_plan(plan: Plan) -> None:
    orders = plan.orders
    orders.loc[0, "racks"] = 99.0
    assert plan.orders["racks"].sum() == 12.0


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (money(11594.04), "11.59 B USD"),
        (money(340.2), "340 M USD"),
        (money(0.4123), "0.412 M USD"),
        (money(3.0, sign=True), "+3 M USD"),
        (money(-3.0, sign=True), "-3 M USD"),
        (megawatts(436.5), "436 MW"),
        (megawatts(2.6), "2.6 MW"),
        (percent(0.0009), "0.09 %"),
        (percent(0.71), "71 %"),
        (percent(0.9995), "99.95 %"),
        (percent(0.999999), "100 %"),
        (percent(0.0), "0 %"),
        (percent(0.00001), "under 0.01 %"),
        (number(1234.5), "1,234"),
        (number(12.0), "12"),
        (join([]), ""),
        (join(["a"]), "a"),
        (join(["a", "b", "c"]), "a, b and c"),
    ],
)
def test_numbers_are_said_alike(said: str, expected: str) -> None:
    assert said == expected
