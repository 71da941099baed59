"""The first screen says what the tables say."""

from __future__ import annotations

from dataclasses import replace

from fleetplan.report import decision, titles
from fleetplan.report.source import ReportSource


def changed(plan, **tables):
    return ReportSource(replace(plan, tables={**plan.tables, **tables}))


def test_headline_orders_this_quarter_by_accelerator(plan):
    source = ReportSource(plan)
    orders = plan.orders
    now = orders[(orders["order_quarter"] == "2026Q4") & (orders["kind"] == "new")]
    text = str(decision.headline(source))
    for name, racks in now.groupby("accelerator")["racks"].sum().items():
        assert f"{racks:,.0f} {plan.scenario.accelerators[name].title} racks" in text
    assert text.endswith(f"by {now['last_responsible_date'].min()}.")


def test_without_orders_now_the_next_one_is_named(plan):
    orders = plan.orders
    later = orders[(orders["order_quarter"] > "2026Q4") & (orders["kind"] == "new")]
    text = str(decision.headline(changed(plan, orders=later)))
    assert text.startswith("Order nothing this quarter. Next: ")
    assert later["last_responsible_date"].min() in text
    none = str(decision.headline(changed(plan, orders=orders.iloc[:0])))
    assert none == "Order nothing: the plan works with what is there and what is committed."


def test_committed_racks_are_no_decision(plan):
    source = ReportSource(plan)
    assert all(a.kind != "committed" for a in decision.actions(source))
    orders = plan.orders
    committed = orders[orders["kind"] == "committed"]
    only = changed(plan, orders=committed)
    assert decision.actions(only) == []
    year = committed[committed["service_quarter"].isin(["2026Q4", "2027Q1", "2027Q2", "2027Q3"])]
    assert f"{year['racks'].sum():,.0f} racks are already committed" in str(decision.arriving(only))


def test_a_full_site_is_named_with_its_end(small):
    power = small.power
    mine = power["site"] == "new-albany-oh"
    full = mine & power["period"].isin(["2026Q4", "2027Q1"])
    power.loc[full, "headroom_mw"] = 0.0
    source = changed(small, power=power)
    assert str(titles.power(source)) == "Power is full at New Albany OH until 2027Q2."
    assert str(titles.site_power(source, "new-albany-oh")) == "New Albany OH: full until 2027Q2"
    assert "Power is full at New Albany OH until 2027Q2." in str(decision.supporting(source)[0])


def test_shortfall_is_named_with_its_start_and_size(small):
    work = small.work
    row = (work["workload"] == "ads-dlrm-150b") & (work["period"] == "2027Q2")
    asked = work.loc[row, "demand_samples_per_s"]
    work.loc[row, "shortfall_samples_per_s"] = asked * 0.25
    work.loc[row, "served_samples_per_s"] = asked * 0.75
    source = changed(small, work=work)
    name = "Ads ranking DLRM, 150 B parameters"
    assert str(titles.work(source)) == f"{name} falls short from 2027Q2, by 25 % in 2027Q2."
    card = next(c for c in decision.cards(source) if c.name.startswith("Work served"))
    assert str(card.value) == "100 %"
    assert str(card.trend) == f"lowest: 75 % ({name}, 2027Q2)"


def test_five_numbers_in_the_order_of_the_sketch(plan):
    names = [c.name for c in decision.cards(ReportSource(plan))]
    assert [n.split(",")[0] for n in names] == [
        "Cost",
        "Power used",
        "Work served",
        "Racks ordered this year",
        "Proven gap",
    ]


def test_without_a_bound_nothing_is_called_proven(plan):
    open_ = plan.manifest.model_copy(update={"bound_musd": None, "gap": None, "gap_musd": None})
    card = decision.cards(ReportSource(replace(plan, manifest=open_)))[-1]
    assert str(card.value) == "not proven"


def test_how_sure_names_status_interval_and_model(plan):
    action = next(a for a in decision.actions(ReportSource(plan)) if a.accelerator == "mtia-400")
    assert str(action.sure) == "price assumed (1.33 to 2.66 M USD a rack); speed modelled, 0.8 to 1.3 times"
