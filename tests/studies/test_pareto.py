"""Fronts against brute force over every order that there can be."""

from __future__ import annotations

import pytest

from fleetplan.errors import UsageError
from fleetplan.studies.measures import measures
from fleetplan.studies.pareto import FrontPoint, pareto, undominated
from tests.studies.small_worlds import carbon_of, choices, cost_of, short_of, workshop, world


def brute_force(*others) -> list[tuple[float, ...]]:
    points = {(cost_of(*c), *(round(f(*c), 9) for f in others)) for c in choices()}
    return sorted(
        p
        for p in points
        if not any(q != p and all(a <= b for a, b in zip(q, p, strict=True)) for q in points)
    )


def test_the_front_of_cost_and_carbon_is_that_of_trying_every_order():
    front = pareto(workshop(world()), ("carbon",), points=60)
    assert [p.at for p in front.points] == [pytest.approx(p, abs=1e-5) for p in brute_force(carbon_of)]
    assert len(front.points) > 3


def test_the_front_of_three_objectives_has_every_efficient_order():
    front = pareto(workshop(world()), ("carbon", "work"), points=14)
    expected = brute_force(carbon_of, short_of)
    assert [p.at for p in front.points] == [pytest.approx(p, abs=1e-5) for p in expected]


def test_no_point_of_a_front_is_dominated_and_each_is_a_plan_with_these_values(tmp_path):
    from fleetplan.plan.store import read_plan

    front = pareto(workshop(world()), ("peak", "carbon"), points=3)
    folder = front.save(tmp_path / "front")
    for row in front.frame().itertuples():
        found = measures(read_plan(folder / row.plan))
        assert found["cost_musd"] == pytest.approx(row.cost_musd)
        assert found["peak_mw"] == pytest.approx(row.peak_mw)
        assert found["carbon_t"] == pytest.approx(row.carbon_t)
    for one in front.points:
        for other in front.points:
            if one is not other:
                assert any(a > b + 1e-9 for a, b in zip(one.at, other.at, strict=True))


def test_dominated_and_repeated_points_are_left_out():
    points = [FrontPoint(at, 0.0, None) for at in [(1, 5), (2, 4), (2, 5), (1, 5), (3, 1)]]
    assert [p.at for p in undominated(points)] == [(1, 5), (2, 4), (3, 1)]


@pytest.mark.parametrize("objectives", [(), ("cost",), ("carbon", "carbon")])
def test_unknown_or_repeated_objectives_are_refused(objectives):
    with pytest.raises(UsageError, match="objectives"):
        pareto(workshop(world()), objectives)
