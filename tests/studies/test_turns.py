"""Break-even, alternatives and rolling plans on a world that can be added up by hand."""

from __future__ import annotations

import pytest

from fleetplan.errors import UsageError
from fleetplan.studies.alternatives import alternatives, distance, told_difference
from fleetplan.studies.breakeven import breakeven, delayed
from fleetplan.studies.cases import Case
from fleetplan.studies.decision import parse_decision
from fleetplan.studies.measures import measures
from fleetplan.studies.rolling import rolling
from tests.planning.worlds import START, supply
from tests.studies.small_worlds import PRICE, QUARTERS, workshop, world


def price(name: str) -> str:
    return f"supply[{name},{START}].price_musd_per_rack"


def test_a_rack_is_bought_up_to_what_it_saves():
    # One alpha serves 1 sample/s for 3 quarters: worth 3 M USD while work is short.
    base = world(supply=[supply("alpha", 0, 3, 0.5)])
    made = breakeven(workshop(base), price("alpha"), 0.5, 6.0, parse_decision("racks[alpha] > 0"), points=2)
    assert made.value == pytest.approx(3.0, rel=0.01)
    assert made.is_confirmed
    below, above = made.confirmed
    assert (below.value, above.value) == pytest.approx((made.value * 0.99, made.value * 1.01))
    assert (below.holds, above.holds) == (True, False)
    assert "confirmed" in made.lines()[1]


def test_a_chip_enters_at_the_speed_at_which_it_beats_the_other():
    # 3 samples/s are missing. 3 alpha cost 1.5 M USD; one beta costs 1.4, and 3 M USD for each sample/s
    # that it leaves short: it wins from a rate of 3 - 0.1 / 3 on, over its 2.
    base = world(
        asked=8.0, supply=[supply("alpha", 0, 9, 0.5), supply("beta", 0, 1, 1.4)], demand=world(5.0).demand
    )
    made = breakeven(workshop(base), "speed[beta]", 0.5, 2.0, parse_decision("racks[beta] > 0"), points=3)
    assert made.value == pytest.approx((3 - 0.1 / 3) / 2, rel=0.01)


def test_it_says_where_no_value_turns_the_decision():
    made = breakeven(
        workshop(world()), price("alpha"), 0.1, 0.6, parse_decision("racks[alpha] > 0"), points=3
    )
    assert made.value is None
    assert "No value" in made.lines()[0]
    assert len(made.frame()) == 3


def test_a_delay_turns_a_decision_at_a_whole_quarter():
    # Racks that come in quarter 1 go into service in quarter 2, in halls that have power by then.
    made = breakeven(
        workshop(world(fleet=[])), "delay[east-1]", 0, 4, parse_decision("racks[alpha] > 0"), points=2
    )
    assert made.bracket == (1.0, 2.0)


def test_a_delayed_hall_starts_dark_and_keeps_its_last_value():
    rows = delayed(world(), "east-1", 2).power
    assert [row.facility_mw for row in rows] == [0.0, 0.0, 1.0, 1.0]
    with pytest.raises(UsageError, match="unknown hall"):
        delayed(world(), "west", 1)


@pytest.mark.parametrize("text", ["racks", "racks[a] = 2", "> 3", "racks[a] > x"])
def test_a_malformed_decision_is_refused_with_the_form(text):
    with pytest.raises(UsageError, match="write it like"):
        parse_decision(text)


@pytest.mark.parametrize("text", ["racks[nobody] > 0", "share[nobody] > 0", "now[nobody] > 0"])
def test_a_decision_about_an_unknown_accelerator_is_refused(text):
    base = world()
    with pytest.raises(UsageError):
        parse_decision(text).value(workshop(base).plan(base))


def test_alternatives_stay_within_the_tolerance_and_apart():
    base = world(asked=5.0)
    made = alternatives(workshop(base), tolerance=0.2, count=3)
    best = made.plans[0].plan
    assert best.cost_musd == pytest.approx(3 * PRICE["alpha"] + 3)
    assert len(made.plans) > 1
    for one in made.plans[1:]:
        assert best.cost_musd - 1e-6 <= one.plan.cost_musd <= best.cost_musd * 1.2 + 1e-6
        assert min(one.distances) >= 0.01
        assert one.plan.audit.checks
    # 1 alpha and 1 beta serve the same 3 samples/s for 0.4 M USD more.
    assert measures(made.plans[1].plan)["racks[beta]"] >= 1
    assert "beta" in made.plans[1].words


@pytest.mark.parametrize(
    ("before", "change", "words"),
    [
        (100.0, -12.0, "12% fewer GB300 at East"),
        (100.0, 150.0, "150% more GB300 at East"),
        (8.0, 304.0, "39 times as many GB300 at East"),
        (0.0, 304.0, "304 more racks of GB300 at East"),
    ],
)
def test_a_difference_is_told_as_people_say_it(before, change, words):
    assert told_difference(before, change, "GB300", "East") == words


def test_distance_is_the_share_that_differs():
    import numpy as np

    assert distance(np.array([2.0, 0.0]), np.array([0.0, 2.0])) == 1.0
    assert distance(np.array([3.0, 1.0]), np.array([3.0, 1.0])) == 0.0
    assert distance(np.array([3.0, 1.0]), np.array([1.0, 1.0])) == pytest.approx(2 / 6)


def rising() -> Case:
    return Case("up", {f"demand[rank,{START + i}].samples_per_s": 4.0 for i in range(1, QUARTERS)})


def test_planners_who_see_today_only_never_order_ahead():
    # 4 samples/s are asked for from quarter 2 on. Whoever sees one quarter believes in 2 for the next,
    # in which a rack ordered now would work: 2 samples/s are short for 3 quarters.
    rows = [supply("alpha", i, 3, 0.5) for i in range(3)]
    made = rolling(workshop(world(asked=2.0, supply=rows)), rising())
    assert made.foresight.cost_musd == pytest.approx(2 * 0.5)
    assert made.realised.cost_musd == pytest.approx(2 * 3)
    assert made.myopia_musd == pytest.approx(5.0)
    assert made.service_level == pytest.approx(8 / 14)


def test_with_enough_look_ahead_nothing_is_lost():
    rows = [supply("alpha", i, 3, 0.5) for i in range(3)]
    made = rolling(workshop(world(asked=2.0, supply=rows)), rising(), look_ahead=1)
    assert made.myopia_musd == pytest.approx(0.0, abs=1e-6)
    assert sum(step.churn_racks for step in made.steps) == pytest.approx(0.0)


def test_rounds_outside_the_horizon_are_refused():
    with pytest.raises(UsageError, match="rounds"):
        rolling(workshop(world()), rising(), rounds=9)
