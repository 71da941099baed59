import numpy as np
import pytest

from fleetplan.errors import UsageError
from fleetplan.inputs.catalog import load_accelerator, load_model
from fleetplan.performance.breakeven import breakeven
from fleetplan.performance.charts import fit_html
from fleetplan.performance.fit_power import fit_power

NAMES = ("h100", "gb200", "mtia-300", "tpu-v7")


@pytest.fixture(scope="module")
def table():
    return fit_power(150, load_model("dlrm-dcnv2"), [load_accelerator(name) for name in NAMES])


def test_whole_racks_stay_under_the_power_and_one_more_would_not(table):
    known = table[table["samples_per_s"].notna()]
    used = known["racks"].astype(float) * known["rack_facility_kw"] / 1e3
    assert (used <= 150).all()
    assert (used + known["rack_facility_kw"] / 1e3 > 150).all()


def test_gb200_racks_at_960_w_follow_the_facility_law(table):
    # (480 + 1.37 x 960) W x 72 = 129.25 kW; 150 MW hold 1160 of them
    row = table[(table["accelerator"] == "gb200") & (table["cap_w"] == 960)].iloc[0]
    assert row["rack_facility_kw"] == pytest.approx(129.25, abs=0.01)
    assert row["racks"] == 1160


def test_cost_re_adds(table):
    row = table[(table["accelerator"] == "h100") & (table["cap_w"] == 700)].iloc[0]
    price = row["racks"] * load_accelerator("h100").price_musd_per_rack
    energy = row["average_facility_mw"] * 8760 * 55 / 1e6
    assert row["cost_musd_per_year"] == pytest.approx(
        price / load_accelerator("h100").book_life_years + 0.05 * price + energy
    )


def test_accelerator_without_power_law_is_listed_with_the_reason(table):
    row = table[table["accelerator"] == "tpu-v7"].iloc[0]
    assert np.isnan(row["samples_per_s"])
    assert "no published" in row["reason"]


def test_best_comes_first_and_its_chart_opens_offline(table):
    rates = table["samples_per_s"].dropna()
    assert rates.is_monotonic_decreasing
    page = fit_html(table, 150, "dlrm-dcnv2")
    assert "<script src=" not in page
    assert "150 MW hold most dlrm-dcnv2" in page


def test_no_power_is_refused():
    with pytest.raises(UsageError, match="above 0 MW"):
        fit_power(0, load_model("dlrm-dcnv2"), [])


def test_breakeven_value_makes_both_equal():
    model, ours, theirs = (
        load_model("mtia300-dlrm-150b"),
        load_accelerator("mtia-300"),
        load_accelerator("h200"),
    )
    table = breakeven(model, ours, theirs, merit="samples_per_usd").set_index("driver")
    price = table.loc["price", "breakeven"]
    dearer = ours.model_copy(update={"price_musd_per_rack": price})
    again = breakeven(model, dearer, theirs, merit="samples_per_usd").set_index("driver")
    assert again.loc["price", "lead_today"] == pytest.approx(1.0, rel=1e-3)


def test_verdict_follows_the_range():
    model = load_model("mtia300-dlrm-150b")
    table = breakeven(model, load_accelerator("mtia-300"), load_accelerator("h100"), merit="samples_per_s")
    for row in table.to_dict("records"):
        leads = (row["lead_low"], row["lead_high"])
        words = {"ahead in all of the range": min(leads) >= 1, "behind in all of the range": max(leads) < 1}
        assert words.get(row["verdict"], min(leads) < 1 <= max(leads))


def test_a_chip_draws_level_with_itself():
    model, device = load_model("dlrm-dcnv2"), load_accelerator("h100")
    table = breakeven(model, device, device, merit="samples_per_s").set_index("driver")
    assert table.loc["matrix products", "breakeven"] == pytest.approx(
        table.loc["matrix products", "value"], rel=1e-3
    )
