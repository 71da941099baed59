from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import fixture_plan

from fleetplan.report import report_html


@pytest.fixture(scope="session")
def plan():
    """A made-up plan: 12 sites, 21 quarters, 16 accelerators, 8 workloads."""
    return fixture_plan.make_plan()


@pytest.fixture(scope="session")
def small():
    """The same with 3 sites, 5 quarters and 2 workloads, and racks in a role outside training."""
    return fixture_plan.make_plan(quarters=5, site_count=3, workload_count=2, with_roles=True)


@pytest.fixture(scope="session")
def hostile():
    """The small plan with every name made as awkward as a name can be."""
    few = {"quarters": 5, "site_count": 3, "workload_count": 2}
    return fixture_plan.make_plan(**few, rename=fixture_plan.hostile, with_roles=True)


@pytest.fixture(scope="session")
def html(plan):
    return report_html(plan)


@pytest.fixture(scope="session")
def hostile_html(hostile):
    return report_html(hostile)


@pytest.fixture(scope="session")
def answers():
    """An explanation made by hand: one answer to each question."""
    from fleetplan.explain.assumptions import Assumption, Assumptions, Turn
    from fleetplan.explain.entry import Entry, Trial
    from fleetplan.explain.explanation import Explanation
    from fleetplan.explain.first_year import Move
    from fleetplan.explain.horizon import HorizonEffect
    from fleetplan.explain.prices import Confirmation, Prices, Value
    from fleetplan.explain.ties import OrderRange, Ties
    from fleetplan.explain.why_not import UnitCost, WhyNot

    seen = Confirmation(4.1, 3.9, 4.3, 4.12)
    values = (
        Value("demand", ("ads-dlrm-150b", "2027Q1"), "", 0.5, 0.4, 3, 1.0),
        Value("power", ("new-albany-oh", "2027Q2"), "new-albany-oh-liquid", 4.125, 1.0, 1, 1.0, 1.0, seen),
        Value("supply", ("mtia-400", "2027Q3"), "", 0.75, 0.0, 2, 0.25, 4.0),
    )
    orders = (
        OrderRange("mtia-400", "2027Q3", 656, 600, 700),
        OrderRange("mtia-450", "2027Q3", 120, 120, 120),
        OrderRange("mtia-300", "2027Q3", 588, 0, 588),
    )
    entry = Entry("price", Trial(0.8, 12), Trial(0.81, 0), "M USD a rack", 2.6, False)
    why = WhyNot("mtia-500", 0.0, True, (UnitCost("mtia-500", "ads-dlrm-150b", 0.4),), (entry,))
    assumed = Assumption(
        "supply[mtia-400,*].price_musd_per_rack", "price of mtia-400", "assumed", 0.7, 1.4, ""
    )
    moved = (Move("mtia-400", 656, 0, 4), Move("gb300-nvl72", 0, 240, 4))
    return Explanation(
        Prices(values, 25000.0),
        Ties(25010.0, 10.0, orders),
        (why,),
        Assumptions((Turn(assumed, "high", 1.4, moved, 120.0),)),
        HorizonEffect("2027Q4", "2028Q4", (Move("mtia-400", 656, 660, 4),)),
        25000.0,
    )
