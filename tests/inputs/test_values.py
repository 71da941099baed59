from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleetplan.errors import UsageError
from fleetplan.inputs.paths_of_values import matching, scenario_paths
from fleetplan.inputs.scenario import Scenario
from fleetplan.inputs.values import content_hash, value_at, with_factor, with_value, with_values


def test_every_path_can_be_read_and_set_to_what_it_is(small: Scenario) -> None:
    before = content_hash(small)
    paths = scenario_paths(small)
    assert len(paths) > 500
    for path in paths:
        value = value_at(small, path)
        if isinstance(value, (int, float)):
            assert value_at(with_value(small, path, value), path) == value, path
    sample = paths[:: len(paths) // 40]
    for path in sample:
        value = value_at(small, path)
        if isinstance(value, (int, float, str)):
            assert content_hash(with_value(small, path, value)) == before, path


def test_every_numeric_figure_has_a_path_that_sets_it(small: Scenario) -> None:
    paths = set(scenario_paths(small))
    numeric = [path for path, figure in small.figures.items() if isinstance(figure.value, float)]
    assert [path for path in numeric if path not in paths and ".fact." not in path] == []


@pytest.mark.parametrize(
    ("path", "value", "read"),
    [
        ("supply[mtia-400,2027Q1].price_musd_per_rack", 2.5, 2.5),
        ("accelerators[mtia-400].hbm_tb_per_s", "9900 GB/s", 9.9),
        ("accelerators[gb300].power_caps[1200]", 0.96, 0.96),
        ("finance.discount_rate", 0.1, 0.1),
        ("finance.salvage_share_by_age_year[merchant,2]", 0.5, 0.5),
        ("finance.maintenance_share_per_year[3]", 0.05, 0.05),
        ("lifecycle.lot_racks[mtia-400]", 8, 8),
        ("carbon.method", "market_based", "market_based"),
        ("rules.site_dates", "slip", "slip"),
        ("rules.allow_moves", True, True),
        ("models[hstu-gr-1500b].skew", 1.7, 1.7),
        ("workloads[ads-dlrm-150b].goodput", 0.9, 0.9),
        ("demand[ads-dlrm-150b,2027Q1].samples_per_s", "0.5e9 samples/s", 0.5e9),
        ("horizon.quarters", 4, 4),
    ],
)
def test_a_value_is_set_and_nothing_else(small: Scenario, path: str, value: float, read: object) -> None:
    before = content_hash(small)
    changed = with_value(small, path, value)
    assert value_at(changed, path) == read
    assert content_hash(changed) != before
    assert content_hash(small) == before
    assert content_hash(with_value(changed, path, value_at(small, path))) == before


def test_another_carbon_method_takes_its_own_intensities(small: Scenario) -> None:
    assert small.carbon.intensity_g_per_kwh["altoona-ia"] == 420.3
    assert with_value(small, "carbon.method", "market_based").carbon.intensity_g_per_kwh["altoona-ia"] == 0.0


def test_the_figures_of_each_carbon_method_keep_apart(small: Scenario) -> None:
    assert small.figures["carbon.intensity_g_per_kwh[altoona-ia]"].value == 420.3
    assert small.figures["carbon.intensity_by_method[location_hourly_zone,altoona-ia]"].value == 431.95
    assert small.figures["carbon.intensity_by_method[market_based,altoona-ia]"].value == 0.0


def test_a_star_stands_for_all_keys_of_a_bracket(small: Scenario) -> None:
    changed = with_value(small, "supply[mtia-400,*].price_musd_per_rack", 3.0)
    prices = {
        (row.accelerator, row.price_musd_per_rack) for row in changed.supply if row.accelerator == "mtia-400"
    }
    assert prices == {("mtia-400", 3.0)}
    assert [r for r in changed.supply if r.accelerator != "mtia-400"] == [
        r for r in small.supply if r.accelerator != "mtia-400"
    ]
    doubled = with_factor(small, "demand[*].samples_per_s", 2.0)
    assert sum(r.samples_per_s for r in doubled.demand) == pytest.approx(
        2 * sum(r.samples_per_s for r in small.demand)
    )
    assert len(matching(small, "sites[*].pue_peak")) == 2


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("finance.discount", 0.1, "finance.discount_rate"),
        ("sites[altoona].pue_peak", 1.2, r"sites\[altoona-ia\]"),
        ("supply[mtia-400,2027Q9].price_musd_per_rack", 1.0, "did you mean"),
        ("finance.discount_rate", 7, "must be from -0.5 to 1"),
        ("finance.discount_rate", float("nan"), "finite"),
        ("sites[altoona-ia].pue_peak", 0.5, "below 1"),
        ("sites[altoona-ia].pue_peak", "1.2 MW", "expected"),
        ("lifecycle.lot_racks[mtia-400]", 2.5, "whole number"),
        ("supply[mtia-400,2027Q1].max_racks", -1, "negative"),
        ("accelerators[mtia-400].hbm_tb_per_s", -1, "negative"),
        ("accelerators[gb300].power_caps[1200]", 1.5, "up to 1"),
        ("rules.site_dates", "late", "late"),
        ("horizon.quarters", 99, "power is stated"),
        ("models[hstu-gr-1500b].skew", 0.1, "greater than or equal to 1"),
        ("nonsense", 1, "unknown path"),
        ("a b c", 1, "not a path"),
        ("sites[*].nothing", 1, "unknown path"),
    ],
)
def test_a_wrong_path_or_value_is_told_with_what_would_be_right(
    small: Scenario, path: str, value: float, says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        with_value(small, path, value)


def test_draws_from_intervals_always_fit(public: Scenario) -> None:
    opened = {
        path: f for path, f in public.figures.items() if f.is_open and isinstance(f.value, (int, float))
    }
    assert len(opened) > 1000
    for end in ("low", "high"):
        changed = with_values(public, {path: float(getattr(f, end)) for path, f in opened.items()}, fit=True)
        for row in changed.supply:
            assert row.committed_racks + row.option_racks <= row.max_racks
        assert changed.finance.discount_rate == getattr(public.figures["finance.discount_rate"], end)


def test_deliveries_below_commitments_are_refused(small: Scenario) -> None:
    with pytest.raises(UsageError, match="more than can be delivered"):
        with_value(small, "supply[mtia-300,2026Q4].max_racks", 10)
    fitted = with_values(small, {"supply[mtia-300,2027Q3].max_racks": 100.4}, fit=True)
    row = next(r for r in fitted.supply if (r.accelerator, str(r.delivery)) == ("mtia-300", "2027Q3"))
    assert (row.committed_racks, row.option_racks, row.max_racks) == (96, 4, 100)


@settings(max_examples=40, deadline=None)
@given(st.floats(0.01, 100.0))
def test_scaling_there_and_back_keeps_the_price(factor: float) -> None:
    from fleetplan.inputs.load import load_scenario
    from tests.inputs.faults import SMALL

    path = "supply[mtia-400,2027Q1].price_musd_per_rack"
    scenario = _cached(load_scenario, SMALL)
    before = value_at(scenario, path)
    assert value_at(
        with_factor(with_factor(scenario, path, factor), path, 1 / factor), path
    ) == pytest.approx(before)


_CACHE: dict[str, Scenario] = {}


def _cached(load: object, folder: object) -> Scenario:
    assert callable(load)
    if "small" not in _CACHE:
        _CACHE["small"] = load(folder)
    return _CACHE["small"]
