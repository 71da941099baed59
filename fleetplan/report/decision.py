"""The first screen: the decision in a sentence, five numbers with their trend, what to do this quarter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fleetplan.plan.evidence import status_of
from fleetplan.plan.words import money
from fleetplan.report.numbers import Message, Number, listed, say, words_of
from fleetplan.report.source import ReportSource, unique

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.plan.summary import OrderNow

DECIDED = ("new", "option", "upgrade", "rental")
"""Kinds of order that the plan decides; what was committed before is not a decision."""


END_VALUE = "end value"
"""Ledger item for what the racks are worth after the horizon: an income, but no cash within it."""


@dataclass(frozen=True)
class Card:
    """One of the five numbers: its name, value, trend in words and as a line of (period, value)."""

    name: str
    value: Message
    trend: Message
    points: tuple[tuple[str, float], ...]
    limit: tuple[tuple[str, float], ...] = ()
    """A second line to be held against the first one: what is there."""
    unit: str = ""


@dataclass(frozen=True)
class Action:
    """One row of ``this quarter``: racks of an accelerator for one site and service quarter."""

    accelerator: str
    site: str
    racks: Number
    kind: str
    by: str
    service: str
    why: Message
    sure: Message


def headline(source: ReportSource) -> Message:
    """Say the decision in one sentence."""
    summary = source.summary
    if summary.orders_now:
        orders = [_order(source, order) for order in summary.orders_now]
        return say("Order ", listed(orders, 3), " by ", _earliest(summary.orders_now), ".")
    if summary.next_order is None:
        return say("Order nothing: the plan works with what is there and what is committed.")
    order = summary.next_order
    return say("Order nothing this quarter. Next: ", _order(source, order), " by ", order.order_by, ".")


def supporting(source: ReportSource) -> list[Message]:
    """Say what stands behind the decision: power, work, cost, evidence."""
    return [
        _power_sentence(source),
        _work_sentence(source),
        _cost_sentence(source),
        _evidence_sentence(source),
    ]


def cards(source: ReportSource) -> list[Card]:
    """The five numbers of the first screen."""
    return [_cost(source), _power(source), _work(source), _racks(source), _gap(source)]


def actions(source: ReportSource) -> list[Action]:
    """What to order this quarter, by site, with its reason and how sure it is."""
    orders = source.table("orders")
    now = orders[
        (orders["order_quarter"] == source.first) & orders["kind"].isin(DECIDED) & (orders["racks"] > 0)
    ]
    keys = ["accelerator", "site", "service_quarter", "kind"]
    return [
        _action(source, dict(zip(keys, map(str, key), strict=True)), part)
        for key, part in now.groupby(keys, sort=True)
        if isinstance(key, tuple)
    ]


def arriving(source: ReportSource) -> Message | None:
    """Committed racks that go into service in the first year, which need no decision but a place."""
    orders = source.table("orders")
    year = [p.name for p in source.periods[:4]]
    rows = orders[(orders["kind"] == "committed") & orders["service_quarter"].isin(year)]
    if rows.empty:
        return None
    where = {"kind": ["committed"], "service_quarter": year}
    racks = source.number("orders", "racks", "racks", where)
    names = [source.title("accelerator", str(n)) for n in rows.groupby("accelerator")["racks"].sum().index]
    return say(
        racks, " are already committed and go into service in the first year (", listed(names, 5), ")."
    )


def cash_items(source: ReportSource) -> list[str]:
    """Items that are cash within the horizon: all but what the racks are worth after it."""
    return sorted(set(source.table("ledger")["item"]) - {END_VALUE})


def _order(source: ReportSource, order: OrderNow) -> Message:
    quarter = _quarter_of(source, order)
    where = {"accelerator": [order.accelerator], "kind": [order.kind], "order_quarter": [quarter]}
    racks = source.number("orders", "racks", "", where)
    sites = [source.title("site", site) for site, _ in order.sites]
    kind = "" if order.kind == "new" else f" under {order.kind}"
    title = source.title("accelerator", order.accelerator)
    return say(racks, f" {title} racks{kind} for ", listed(sites, 2, "sites more"))


def _quarter_of(source: ReportSource, order: OrderNow) -> str:
    if order in source.summary.orders_now:
        return source.first
    orders = source.table("orders")
    later = orders[(orders["order_quarter"] > source.first) & (orders["kind"] != "committed")]
    return str(later["order_quarter"].min())


def _earliest(orders: tuple[OrderNow, ...]) -> str:
    return min(order.order_by for order in orders)


def _power_sentence(source: ReportSource) -> Message:
    full = source.summary.full_sites
    now = [f for f in full if f.since == source.first]
    if now:
        names = [source.title("site", f.site) + (f" until {f.until}" if f.until else "") for f in now]
        return say("Power is full at ", listed(names, 3, "more sites"), ".")
    if full:
        names = [f"{source.title('site', f.site)} from {f.since}" for f in full]
        return say("Power runs out at ", listed(names, 3, "more sites"), ".")
    return say("Every site keeps room for another lot of racks.")


def _work_sentence(source: ReportSource) -> Message:
    short = source.summary.short
    if not short:
        return say(f"All demand is served through {source.last}.")
    first = short[0]
    names = [source.title("workload", s.workload) for s in short]
    if first.since == source.first:
        return say("Work is short from the start: ", listed(names, 3), ".")
    return say(f"All demand is served until {first.since}; then ", listed(names, 3), " fall short.")


def _cost_sentence(source: ReportSource) -> Message:
    total = source.number("ledger", "npv_musd", "M USD")
    parts = []
    for item, _ in sorted(source.summary.parts, key=lambda part: -abs(part[1]))[:3]:
        parts.append(say(f"{item} ", source.number("ledger", "npv_musd", "M USD", {"item": [item]})))
    return say("The plan costs ", total, " in present value (", listed(parts, 3), ").")


def _evidence_sentence(source: ReportSource) -> Message:
    share = source.summary.assumed_share
    rows = source.table("ledger")
    causes = [c for c in unique(map(str, rows["cause"])) if status_of(c, source.scenario) == "assumed"]
    spend = rows[rows["cause"].isin(causes) & (rows["npv_musd"] > 0)]["npv_musd"].sum()
    text = "of the gross cost rests on assumed prices"
    number = Number(share, "share", "summary", "assumed_share")
    tail = _lever(source)
    return (
        say(number, f" {text} ({money(float(spend))})", tail, ".") if share else say("No price is assumed.")
    )


def _lever(source: ReportSource) -> Message:
    figures = source.summary.figures
    if not figures:
        return say("")
    top = figures[0]
    low, high = sorted((top.at_low_musd, top.at_high_musd))
    name = f"{top.subject}, {words_of(top.path)}"
    return say(f"; the widest is {name}: {money(low, sign=True)} to {money(high, sign=True)} over its range")


def _by_period(source: ReportSource, table: str, column: str) -> dict[str, float]:
    sums = source.table(table).groupby("period")[column].sum()
    return {p.name: float(sums.get(p.name, 0.0)) for p in source.periods}


def _cost(source: ReportSource) -> Card:
    items = cash_items(source)
    rows = source.table("ledger")
    sums = rows[rows["item"].isin(items)].groupby("period")["amount_musd"].sum()
    cash = {p.name: float(sums.get(p.name, 0.0)) for p in source.periods}
    peak = max(cash, key=lambda period: cash[period])
    most = source.number("ledger", "amount_musd", "M USD", {"period": [peak], "item": items})
    value = say(source.number("ledger", "npv_musd", "M USD"))
    return Card(
        "Cost, present value", value, say("most cash in ", peak, ": ", most), tuple(cash.items()), (), "M USD"
    )


def _power(source: ReportSource) -> Card:
    used, there = (_by_period(source, "power", c) for c in ("used_mw", "available_mw"))

    def of(period: str) -> Message:
        where = {"period": [period]}
        used_mw = replace(source.number("power", "used_mw", "MW", where), bare=True)
        return say(used_mw, " of ", source.number("power", "available_mw", "MW", where))

    trend = say(of(source.last), f" in {source.last}")
    return Card(
        f"Power used, {source.first}",
        of(source.first),
        trend,
        tuple(used.items()),
        tuple(there.items()),
        "MW",
    )


def _work(source: ReportSource) -> Card:
    """Work of the workload that is served worst, at once or deferred: unlike samples are not added up."""
    rows = source.table("work")
    rows = rows[rows["demand_samples_per_s"] > 0]
    share = 1 - rows["shortfall_samples_per_s"] / rows["demand_samples_per_s"]
    worst = share.groupby(rows["period"]).idxmin()
    points = {str(p): float(share[i]) for p, i in worst.items()}

    def number(period: str) -> Number:
        where = {"period": [period], "workload": [str(rows.loc[worst[period], "workload"])]}
        return source.number("work", "shortfall_samples_per_s/demand_samples_per_s", "share", where, "rest")

    if not points:
        return Card("Work served", say("no demand"), say("nothing is asked for"), ())
    low = min(points, key=lambda period: points[period])
    name = source.title("workload", str(rows.loc[worst[low], "workload"]))
    trend = (
        say("lowest: ", number(low), f" ({name}, {low})")
        if points[low] < 1
        else say(f"through {source.last}")
    )
    first = min(points)
    return Card(
        f"Work served, weakest, {first}", say(number(first)), trend, tuple(points.items()), (), "share"
    )


def _racks(source: ReportSource) -> Card:
    horizon = source.scenario.horizon
    year = [str(horizon.start + n) for n in range(4)]
    where = {"order_quarter": year, "kind": list(DECIDED)}
    parts = []
    for name, _ in sorted(source.summary.racks_first_year, key=lambda item: -item[1]):
        racks = source.number("orders", "racks", "", {**where, "accelerator": [name]})
        parts.append(say(racks, f" {source.title('accelerator', name)}"))
    orders = source.table("orders")
    orders = orders[orders["kind"].isin(DECIDED)]
    by_quarter = orders.groupby(orders["order_quarter"].map(source.period_of))["racks"].sum()
    points = tuple((p.name, float(by_quarter.get(p.name, 0.0))) for p in source.periods)
    trend = listed(parts, 3, "kinds more") if parts else say("nothing is ordered in the first year")
    return Card(
        "Racks ordered this year",
        say(source.number("orders", "racks", "racks", where)),
        trend,
        points,
        (),
        "racks",
    )


def _gap(source: ReportSource) -> Card:
    record = source.manifest
    if record["gap"] is None or record["bound_musd"] is None:
        return Card("Proven gap", say("not proven"), say(f"no bound is known ({record['status']})"), ())
    value = say(Number(float(record["gap"]), "share", "manifest", "gap"))
    bound = Number(float(record["bound_musd"]), "M USD", "manifest", "bound_musd")
    return Card("Proven gap", value, say("no plan costs less than ", bound), ())


def _action(source: ReportSource, key: dict[str, str], part: pd.DataFrame) -> Action:
    where = {name: [value] for name, value in key.items()} | {"order_quarter": [source.first]}
    return Action(
        key["accelerator"],
        key["site"],
        source.number("orders", "racks", "", where),
        key["kind"],
        str(part["last_responsible_date"].min()),
        key["service_quarter"],
        _why(source, key),
        _how_sure(source, key),
    )


def _why(source: ReportSource, key: dict[str, str]) -> Message:
    """What the racks are for when they go into service: the work they take, the power they leave."""
    period = source.period_of(key["service_quarter"])
    rows = source.table("assignment")
    here = (
        (rows["site"] == key["site"])
        & (rows["accelerator"] == key["accelerator"])
        & (rows["period"] == period)
    )
    work = rows[here].groupby("workload")["racks"].sum().sort_values(ascending=False, kind="stable")
    names = [source.title("workload", str(name)) for name, racks in work.items() if racks > 0]
    where = {"site": [key["site"]], "period": [period]}
    left = source.number("power", "headroom_mw", "MW", where)
    there = source.number("power", "available_mw", "MW", where)
    purpose = say("trains ", listed(names, 2), "; ") if names else say("")
    left = replace(left, bare=True)
    return say(purpose, "leaves ", left, " of ", there, f" free in {period}", _makes_room(source, where))


def _makes_room(source: ReportSource, where: dict[str, list[str]]) -> Message:
    leaving = source.number("retirements", "racks", "racks", where)
    return say(" after ", leaving, " retired") if leaving.value else say("")


def _how_sure(source: ReportSource, key: dict[str, str]) -> Message:
    """Evidence for the price and the speed of what is ordered."""
    status = status_of(key["accelerator"], source.scenario)
    return say(
        f"price {status}{_price_range(source, key['accelerator'])}; ", listed(list(_speeds(source, key)), 1)
    )


def _price_range(source: ReportSource, name: str) -> str:
    accelerator = source.scenario.accelerators.get(name)
    figure = accelerator.figures.get("price_musd_per_rack") if accelerator else None
    if figure is None or not figure.is_open:
        return ""
    return f" ({figure.low:g} to {figure.high:g} M USD a rack)"


def _speeds(source: ReportSource, key: dict[str, str]) -> Iterator[Message]:
    used = source.table("assignment")
    used = used[
        (used["accelerator"] == key["accelerator"]) & (used["site"] == key["site"]) & (used["racks"] > 0)
    ]
    rows = source.table("options")
    rows = rows[rows["option"].isin(set(used["option"]))]
    if rows.empty:
        yield say("speed not used yet")
        return
    low, high = float(rows["low_factor"].min()), float(rows["high_factor"].max())
    evidence = "measured" if set(rows["evidence"]) == {"measured"} else "modelled"
    yield say(f"speed {evidence}, {low:.2g} to {high:.2g} times")
