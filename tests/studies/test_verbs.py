"""The verbs of studies: what they refuse, and what they leave behind."""

from __future__ import annotations

import json

import pandas as pd
import pytest
import vl_convert
from click.testing import CliRunner

from fleetplan.cli.studies import read_futures
from fleetplan.cli.sweep import command as sweep
from fleetplan.errors import InputError, UsageError
from fleetplan.studies.cases import Case
from fleetplan.studies.charts import curve, fan, front, orders, regret, rounds, tornado, tornado_table
from fleetplan.studies.page import study_page
from tests.studies.small_worlds import world

HEAD = "future,probability,path,value\n"


def test_a_sweep_needs_to_know_what_varies():
    done = CliRunner().invoke(sweep, ["small-2026", "-q"])
    assert isinstance(done.exception, UsageError)
    assert "--vary, --tornado, --sample" in str(done.exception)


def test_a_sweep_leaves_a_table_a_page_and_plans(tmp_path):
    folder = tmp_path / "s"
    asked = ["small-2026", "--vary", "finance.discount_rate=0.07,0.11", "-o", str(folder), "--json"]
    done = CliRunner().invoke(sweep, asked, catch_exceptions=False)
    rows = json.loads(done.output)["rows"]
    assert [row["status"] for row in rows] == ["optimal", "optimal"]
    assert rows[0]["cost_musd"] < rows[1]["cost_musd"]
    stored = pd.read_csv(folder / "results.csv")
    assert stored["cost_musd"].tolist() == pytest.approx([row["cost_musd"] for row in rows])
    page = (folder / "study.html").read_text(encoding="utf-8")
    assert all(f"href='{place}/manifest.json'" in page for place in stored["folder"])
    assert all((folder / place / "manifest.json").is_file() for place in stored["folder"])
    assert "http-equiv" not in page
    assert "<script src" not in page


def test_futures_are_read_with_factors_patterns_and_an_unchanged_one(tmp_path):
    path = tmp_path / "futures.csv"
    path.write_text(
        HEAD + "high,0.25,demand[*].samples_per_s,*1.5\nhigh,0.25,finance.discount_rate,0.1\nbase,0.75,,\n"
    )
    tree = read_futures(path, world(asked=4.0), reveal=2)
    high, base = tree.futures
    assert (high.probability, base.probability) == (0.25, 0.75)
    assert high.case.values["demand[rank,2027Q1].samples_per_s"] == pytest.approx(6.0)
    assert high.case.values["finance.discount_rate"] == 0.1
    assert base.case.values == {}
    assert str(tree.reveals[0]) == "2027Q3"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("future,path,value\n", "has the columns"),
        (HEAD + "a,half,,\n", "probability that is no number"),
        (
            HEAD + "a,0.5,demand[*].samples_per_s,1\na,0.6,finance.discount_rate,0.1\n",
            "several probabilities",
        ),
        ("", "cannot be read"),
    ],
)
def test_a_malformed_file_of_futures_is_an_input_error(tmp_path, text, says):
    path = tmp_path / "futures.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        read_futures(path, world(), reveal=1)


def test_a_tornado_has_the_widest_group_first_and_changes_over_the_base():
    results = pd.DataFrame(
        {
            "case": ["base", "x low", "x high", "y low", "y high"],
            "cost_musd": [10.0, 9.0, 12.0, 4.0, float("nan")],
        }
    )
    table = tornado_table(results)
    assert table["group"].tolist() == ["y", "x"]
    assert table["low_musd"].tolist() == [-6.0, -1.0]
    assert table["high_musd"].iloc[1] == 2.0


def test_the_page_holds_its_charts_and_escapes_names():
    results = pd.DataFrame({"case": ["base", "<x> low", "<x> high"], "cost_musd": [1.0, 0.5, 2.0]})
    points = pd.DataFrame({"plan": ["plans/000"], "cost_musd": [1.0], "carbon_t": [2.0], "bound_musd": [1.0]})
    turns = pd.DataFrame(
        {"value": [1.0], "measure": [2.0], "holds": [True], "cost_musd": [3.0], "note": [""]}
    )
    charts = {"a": tornado(results), "b": fan(results), "c": front(points), "d": curve(turns, "x")}
    page = study_page("T", ["line"], charts, {"t": results})
    assert page.count("class=chart") == 4
    assert "&lt;x&gt; low" in page
    assert "<td><x>" not in page


def test_orders_regrets_and_rounds_are_drawn_from_their_tables():
    bought = pd.DataFrame({"accelerator": ["alpha", "beta", "alpha"], "racks": [2.0, 3.0, 5.0]})
    drawn = orders({"plan 0": bought, "plan 1": bought.head(1)})["data"]["values"]
    assert [(row["plan"], row["accelerator"], row["racks"]) for row in drawn] == [
        ("plan 0", "alpha", 7.0),
        ("plan 0", "beta", 3.0),
        ("plan 1", "alpha", 2.0),
    ]
    regrets = pd.DataFrame(
        {
            "candidate": ["a", "b"], "future": ["x", "x"],
            "cost_musd": [5.0, float("inf")], "regret_musd": [1.0, float("inf")],
        }
    )  # fmt: skip
    assert [row["candidate"] for row in regret(regrets)["data"]["values"]] == ["a"]
    steps = pd.DataFrame(
        {"quarter": ["2026Q4"], "cost_musd": [3.0], "churn_racks": [0.0], "ordered_racks": [1.0]}
    )
    charts = {"o": orders({"p": bought}), "r": regret(regrets), "s": rounds(steps)}
    for spec in charts.values():
        assert "<svg" in vl_convert.vegalite_to_svg({**spec, "width": 400})
    assert study_page("T", ["line"], charts, {}).count("class=chart") == 3


def test_one_case_of_a_world_is_named():
    from fleetplan.cli.studies import one_case

    made = one_case(world(), "hot", ["finance.discount_rate=0.2"])
    assert made == Case("hot", {"finance.discount_rate": 0.2})
    with pytest.raises(UsageError, match="one value"):
        one_case(world(), "hot", ["finance.discount_rate=0.1,0.2"])
