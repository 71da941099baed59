"""Messages that stand as titles: what a section shows, in a sentence computed from the plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fleetplan.figures import STATUSES
from fleetplan.plan.words import number as said
from fleetplan.report.decision import DECIDED, cash_items
from fleetplan.report.inputs import evidence_counts
from fleetplan.report.numbers import Message, Number, listed, say, words_of
from fleetplan.report.source import ReportSource, unique

if TYPE_CHECKING:
    from fleetplan.plan.summary import FullSite


def orders(source: ReportSource) -> Message:
    """What the first year orders, and by when the first order must be placed."""
    start = source.scenario.horizon.start
    where = {"order_quarter": [str(start + n) for n in range(4)], "kind": list(DECIDED)}
    racks = source.number("orders", "racks", "racks", where)
    if not racks.value:
        return say("Nothing has to be ordered in the first year.")
    cost = source.number("orders", "capex_musd", "M USD", where)
    rows = source.table("orders")
    rows = rows[rows["order_quarter"].isin(where["order_quarter"]) & rows["kind"].isin(DECIDED)]
    first = str(rows["last_responsible_date"].min())
    return say("The first year orders ", racks, " for ", cost, f"; the first date not to miss is {first}.")


def order_remarks(source: ReportSource) -> tuple[Message, ...]:
    """Orders of the whole plan by accelerator, largest spend first."""
    rows = source.table("orders")
    rows = rows[rows["kind"].isin(DECIDED)]
    spend = rows.groupby("accelerator")["capex_musd"].sum().sort_values(ascending=False, kind="stable")
    parts = []
    for name in map(str, spend.index):
        where = {"accelerator": [name], "kind": list(DECIDED)}
        racks = source.number("orders", "racks", "", where)
        parts.append(say(racks, f" {source.title('accelerator', name)}"))
    return (say("In the whole plan: ", listed(parts, 8), "."),) if parts else ()


def power(source: ReportSource) -> Message:
    """Where and until when power is full."""
    full = source.summary.full_sites
    if not full:
        tight, period = _tightest(source)
        left = source.number("power", "headroom_mw", "MW", {"site": [tight], "period": [period]})
        name = source.title("site", tight)
        return say(f"No site is full; {name} comes closest, with ", left, f" left in {period}.")
    first = max(full, key=lambda f: _megawatt_periods(source, f))
    name, until = source.title("site", first.site), f" until {first.until}" if first.until else " to the end"
    when = "" if first.since == source.first else f" from {first.since}"
    rest = len(full) - 1
    others = f", and {rest} more {'site fills' if rest == 1 else 'sites fill'} up" if rest else ""
    return say(f"Power is full at {name}{when}{until}{others}.")


def site_power(source: ReportSource, site: str) -> Message:
    """One site's power in a line, for its small chart."""
    name = source.title("site", site)
    full = next((f for f in source.summary.full_sites if f.site == site), None)
    if full is not None:
        since = f"full from {full.since}" if full.since != source.first else "full"
        return say(f"{name}: {since}" + (f" until {full.until}" if full.until else " to the end"))
    where = {"site": [site], "period": [source.last]}
    left = source.number("power", "headroom_mw", "MW", where)
    return say(f"{name}: ", left, f" free in {source.last}")


def power_used(source: ReportSource) -> Message:
    """Used and available power at the start and the end, for the whole fleet."""
    parts = []
    for period in unique([source.first, source.last]):
        where = {"period": [period]}
        used = replace(source.number("power", "used_mw", "MW", where), bare=True)
        parts.append(say(used, " of ", source.number("power", "available_mw", "MW", where), f" in {period}"))
    return say("All sites together use ", listed(parts), ".")


def fleet(source: ReportSource) -> Message:
    """How the fleet changes from the first to the last period."""
    first, last = ({"period": [period]} for period in (source.first, source.last))
    start = source.number("fleet", "racks", "racks", first)
    end = source.number("fleet", "racks", "racks", last)
    rows = source.table("power_by_accelerator")
    rows = rows[rows["period"] == source.last]
    power_ = rows.groupby("accelerator")["used_mw"].sum()
    if power_.empty or not start.value:
        return say("The fleet goes from ", start, " to ", end, ".")
    top = str(power_.idxmax())
    used = source.number("power_by_accelerator", "used_mw", "MW", {**last, "accelerator": [top]})
    name = source.title("accelerator", top)
    return say(
        "The fleet goes from ",
        start,
        " to ",
        end,
        f"; by {source.last} most power goes to {name} (",
        used,
        ").",
    )


def work(source: ReportSource) -> Message:
    """Which workloads are served, which fall short and when."""
    short = source.summary.short
    if not short:
        return say(f"All demand is served through {source.last}.")
    worst = max(short, key=lambda item: item.worst_share)
    where = {"workload": [worst.workload], "period": [worst.worst_period]}
    column = "shortfall_samples_per_s/demand_samples_per_s"
    share = source.number("work", column, "share", where, "ratio")
    name = source.title("workload", worst.workload)
    rest = len(short) - 1
    others = f"; {rest} more fall{'s' if rest == 1 else ''} short" if rest else ""
    return say(f"{name} falls short from {worst.since}, by ", share, f" in {worst.worst_period}{others}.")


def work_remarks(source: ReportSource) -> tuple[Message, ...]:
    """The largest deferral, where there is one: work that is done later is served, not lost."""
    rows = source.table("work")
    rows = rows[(rows["demand_samples_per_s"] > 0) & (rows["backlog_samples_per_s"] > 0)]
    if rows.empty:
        return ()
    share = rows["backlog_samples_per_s"] / rows["demand_samples_per_s"]
    most = rows.iloc[int(share.to_numpy().argmax())]
    where = {"workload": [str(most["workload"])], "period": [str(most["period"])]}
    number = source.number("work", "backlog_samples_per_s/demand_samples_per_s", "share", where, "ratio")
    name = source.title("workload", str(most["workload"]))
    return (
        say(
            "Some work is deferred and done later: at most ",
            number,
            f" of a quarter's demand ({name}, {most['period']}).",
        ),
    )


def steps(source: ReportSource) -> Message:
    """Which accelerators hide their communication best and worst in the options used."""
    used = sorted(set(source.table("assignment").query("racks > 0")["option"]))
    rows = source.table("options")
    rows = rows[rows["option"].isin(used)]
    shares = [
        source.number(
            "options",
            "exposed_alltoall_ms/step_ms",
            "share",
            {"accelerator": [name], "option": sorted(rows.loc[rows["accelerator"] == name, "option"])},
            "ratio",
        )
        for name in unique(map(str, rows["accelerator"]))
    ]
    if not shares:
        return say("No training option is in use.")
    low, high = min(shares, key=_value), max(shares, key=_value)
    if low is high:
        return say("All-to-all stands exposed for ", low, f" of the step on {_accelerator(source, low)}.")
    return say(
        "All-to-all stands exposed for ",
        low,
        f" of the step on {_accelerator(source, low)} and for ",
        high,
        f" on {_accelerator(source, high)}.",
    )


def money_title(source: ReportSource) -> Message:
    """When most cash is needed."""
    items = cash_items(source)
    rows = source.table("ledger")
    rows = rows[rows["item"].isin(items)]
    by_year = rows.groupby(rows["period"].str[:4])["amount_musd"].sum()
    if by_year.empty:
        return say("The plan moves no money.")
    year = str(by_year.idxmax())
    periods = [p.name for p in source.periods if p.name.startswith(year)]
    most = source.number("ledger", "amount_musd", "M USD", {"period": periods, "item": items})
    return say(f"Most cash is needed in {year}: ", most, ".")


def money_remarks(source: ReportSource) -> tuple[Message, ...]:
    """The ledger's sum against the objective, what is sunk, and the rate behind it."""
    total = source.number("ledger", "npv_musd", "M USD")
    objective = Number(float(source.manifest["objective_musd"]), "M USD", "manifest", "objective_musd")
    sunk = source.number("ledger", "npv_musd", "M USD", {"sunk": ["True"]})
    finance = source.scenario.finance
    timing = finance.discount_timing.replace("_", " ")
    return (
        say("The ledger sums to ", total, "; the objective is ", objective, "; of it ", sunk, " is sunk."),
        say(f"Discounted at {finance.discount_rate:.2%} a year, {timing}, to the start of {source.first}."),
    )


@dataclass(frozen=True)
class SumRow:
    """A row of the table that leads from the cost items to the objective."""

    label: str
    present: Number
    nominal: Number | str
    is_total: bool = False


def reconciliation(source: ReportSource) -> list[SumRow]:
    """Cost items, their sum, the objective, and what neither explains (nothing)."""

    def sums(label: str, where: dict[str, list[str]], *, is_total: bool = False) -> SumRow:
        present = source.number("ledger", "npv_musd", "M USD", where)
        return SumRow(label, present, source.number("ledger", "amount_musd", "M USD", where), is_total)

    rows = [sums(item, {"item": [item]}) for item, _ in source.summary.parts]
    total = sums("sum of the ledger", {}, is_total=True)
    objective = Number(float(source.manifest["objective_musd"]), "M USD", "manifest", "objective_musd")
    rest = round(total.present.value - objective.value, 6) + 0.0
    unexplained = Number(rest, "M USD", "unexplained", "npv_musd")
    tail = [SumRow("objective of the plan", objective, ""), SumRow("unexplained", unexplained, "")]
    return [*rows, total, *tail]


def retirements(source: ReportSource) -> Message:
    """How many racks leave, how many of them early, and what that writes off."""
    racks = source.number("retirements", "racks", "racks")
    early = source.number("retirements", "racks", "", {"kind": ["early"]})
    lost = source.number("retirements", "book_value_musd", "M USD", {"kind": ["early"]})
    if not early.value:
        return say(racks, " retire, none of them early.")
    return say(racks, " retire, ", early, " of them early, which writes off ", lost, ".")


def roles(source: ReportSource) -> Message:
    """What is handed on to roles outside training, at what cost, and what it saves there."""
    periods = [period.name for period in source.scenario.horizon]
    last = source.number("roles", "racks", "racks", {"period": periods[-1:]})
    cost = source.number("roles", "hand_over_musd", "M USD")
    value = source.number("roles", "value_musd", "M USD")
    ready = say("Roles outside training hold ", last, " at the end: making racks ready costs ", cost)
    return ready + say(" and saves ", value, " elsewhere.")


def carbon(source: ReportSource) -> Message:
    """Emissions over the horizon."""
    energy = source.number("energy", "operational_t", "tCO2e")
    made = source.number("energy", "embodied_t", "tCO2e")
    return say("Energy emits ", energy, " over the horizon; making the new racks ", made, ".")


def carbon_remarks(source: ReportSource) -> tuple[Message, ...]:
    """By which method emissions are counted."""
    method = source.scenario.carbon.method.replace("_", " ")
    return (say(f"Counted by the {method} method."),)


def assumptions(source: ReportSource) -> Message:
    """How much of the cost is assumed, and what moves it most."""
    share = Number(source.summary.assumed_share, "share", "summary", "assumed_share")
    figures = source.summary.figures
    if not figures:
        return say(
            share, " of the gross cost rests on assumed prices; no interval is stated for any of them."
        )
    table = source.extras["assumptions"]
    top = figures[0]
    swing = Number(
        float(table.loc[table["figure"] == top.path, "swing_musd"].iloc[0]),
        "M USD",
        "assumptions",
        "swing_musd",
        "sum",
        {"figure": [top.path]},
    )
    name = words_of(top.path)
    return say(
        share, f" of the gross cost rests on assumed prices; {top.subject}, {name} moves it by ", swing, "."
    )


def evidence_remarks(source: ReportSource) -> tuple[Message, ...]:
    """How many figures of the input are assumed."""
    counts = evidence_counts(source.scenario)
    total = sum(sum(by.values()) for by in counts.values())
    parts = [f"{said(sum(by[s] for by in counts.values()))} {s}" for s in STATUSES]
    return (say(f"Of {said(total)} figures in the input: {', '.join(parts)}."),)


def inputs(source: ReportSource) -> Message:
    """Size of the input."""
    s = source.scenario
    return say(
        f"The plan was made from {len(s.sites)} sites, {len(s.halls)} halls, ",
        f"{len(s.accelerators)} accelerators, {len(s.workloads)} workloads and {len(s.horizon)} periods.",
    )


def manifest(source: ReportSource) -> Message:
    """How the plan was made and whether it can be made again."""
    record = source.manifest
    version = record["versions"].get("fleetplan", "absent")
    maker = "fleetplan" if version == "absent" else f"fleetplan {version}"
    return say(
        f"Made {record['created_at'][:10]} by {maker}; ",
        record["reproducible_note"],
        ".",
    )


def proof(source: ReportSource) -> tuple[Message, ...]:
    """The audit in words."""
    return tuple(say(line[0].upper() + line[1:] + ".") for line in source.plan.audit.lines())


def _megawatt_periods(source: ReportSource, full: FullSite) -> float:
    """How much of the plan a full site concerns: its power times the periods for which it is full."""
    names = [p.name for p in source.periods]
    end = names.index(full.until) if full.until in names else len(names)
    return full.available_mw * (end - names.index(full.since))


def _tightest(source: ReportSource) -> tuple[str, str]:
    """Site and period in which the smallest share of power is free."""
    rows = (
        source.table("power")
        .groupby(["site", "period"], as_index=False)[["available_mw", "headroom_mw"]]
        .sum()
    )
    rows = rows[rows["available_mw"] > 0]
    if rows.empty:
        return next(iter(source.scenario.sites), ""), source.first
    share = rows["headroom_mw"] / rows["available_mw"]
    tight = rows.iloc[int(share.to_numpy().argmin())]
    return str(tight["site"]), str(tight["period"])


def _value(number: Number) -> float:
    return number.value


def _accelerator(source: ReportSource, number: Number) -> str:
    return source.title("accelerator", number.where["accelerator"][0])
