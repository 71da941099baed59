"""The plan in a planner's words: what to do this quarter, where power is full, what it costs, how sure.

:func:`summarize` gives structured data; :meth:`Summary.lines` puts it into sentences. The terminal
and the report both use it, so that they never disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fleetplan.plan.evidence import Leverage, cost_by_status, leverages
from fleetplan.plan.words import join, megawatts, money, number, percent

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.inputs.scenario import Scenario
    from fleetplan.plan.plan import Plan

SERVED_TOLERANCE = 1e-4
"""Share of a workload's demand that may be short in a period and still counts as served."""


@dataclass(frozen=True)
class OrderNow:
    """One accelerator to order (or take delivery of) in a quarter; ``sites`` holds racks by site."""

    accelerator: str
    kind: str
    racks: float
    sites: tuple[tuple[str, float], ...]
    order_by: str
    capex_musd: float


@dataclass(frozen=True)
class FullSite:
    """A site where no further lot fits, from ``since`` until before ``until`` (``None``: to the end)."""

    site: str
    since: str
    until: str | None
    available_mw: float


@dataclass(frozen=True)
class ShortWorkload:
    """A workload that is not served in full: first period, worst share of demand, and total price."""

    workload: str
    since: str
    worst_share: float
    worst_period: str
    npv_musd: float


@dataclass(frozen=True)
class Summary:
    """What a reader needs first. Money is M USD of present value unless it says otherwise."""

    title: str
    period: str
    """The first period: ``this quarter``."""
    orders_now: tuple[OrderNow, ...]
    next_order: OrderNow | None
    """The first later order, where there is none this quarter."""
    racks_first_year: tuple[tuple[str, float], ...]
    """Racks ordered in the first four quarters by accelerator, commitments left out."""
    full_sites: tuple[FullSite, ...]
    short: tuple[ShortWorkload, ...]
    served_share: float
    """Samples trained over samples asked for, all workloads weighted by their demand's price."""
    used_mw_first: float
    available_mw_first: float
    used_mw_last: float
    available_mw_last: float
    cost_musd: float
    sunk_musd: float
    """Part of the cost that no decision of the plan changes: what was committed before it."""
    parts: tuple[tuple[str, float], ...]
    """Cost items with their present value, largest first; income is negative."""
    assumed_share: float
    """Share of the gross cost whose price is an assumption."""
    figures: tuple[Leverage, ...]
    """Assumed figures by what they move, largest first."""
    status: str
    gap: float | None
    gap_musd: float | None
    audit_passed: bool
    audit_identities: int
    last_period: str
    shortfall_first: bool = False
    """Whether shortfall was kept at its least, by priority, before cost."""

    def lines(self) -> list[str]:
        """Say the summary in sentences, decision first."""
        return [
            *_order_lines(self),
            _power_line(self),
            _work_line(self),
            _cost_line(self),
            *_evidence_lines(self),
            _proof_line(self),
        ]

    def as_dict(self) -> dict[str, object]:
        """Plain data for JSON."""
        from dataclasses import asdict

        return {**asdict(self), "lines": self.lines()}


def summarize(plan: Plan) -> Summary:
    """Sum a plan up from its tables, its scenario and its manifest."""
    scenario, manifest = plan.scenario, plan.manifest
    first, last = scenario.horizon[0].name, scenario.horizon[-1].name
    orders = plan.orders[plan.orders["racks"] > 0]
    by_status = cost_by_status(plan.ledger, scenario)
    gross = sum(by_status.values())
    return Summary(
        title=manifest.title,
        period=first,
        orders_now=_orders_in(orders, first),
        next_order=_next_order(orders, first),
        racks_first_year=_first_year(orders, scenario),
        full_sites=full_sites(plan),
        short=_short(plan),
        served_share=_served_share(plan),
        used_mw_first=_sum_in(plan.power, first, "used_mw"),
        available_mw_first=_sum_in(plan.power, first, "available_mw"),
        used_mw_last=_sum_in(plan.power, last, "used_mw"),
        available_mw_last=_sum_in(plan.power, last, "available_mw"),
        cost_musd=manifest.objective_musd,
        sunk_musd=float(plan.ledger.loc[plan.ledger["sunk"], "npv_musd"].sum()),
        parts=_parts(plan.ledger),
        assumed_share=by_status.get("assumed", 0.0) / gross if gross else 0.0,
        figures=tuple(v for v in leverages(plan.ledger, scenario) if v.figure.status == "assumed"),
        status=manifest.status,
        gap=manifest.gap,
        gap_musd=manifest.gap_musd,
        audit_passed=plan.audit.passed,
        audit_identities=plan.audit.identities,
        last_period=last,
        shortfall_first=scenario.rules.shortfall == "by_priority",
    )


def full_sites(plan: Plan) -> tuple[FullSite, ...]:
    """Sites whose every powered hall lacks room for the lightest lot, with the first such stretch."""
    lot_mw = _lightest_lot_mw(plan.options, plan.scenario)
    power = plan.power[plan.power["available_mw"] > 0]
    full = power.assign(full=power["headroom_mw"] < lot_mw)
    found = []
    for site, rows in full.groupby("site", sort=True):
        periods = rows.groupby("period", sort=True).agg({"full": "all", "available_mw": "sum"})
        names = list(periods.index[periods["full"]])
        if names:
            after = [p for p in periods.index if p > names[0] and not periods.loc[p, "full"]]
            mw = float(periods.loc[names[0], "available_mw"])
            found.append(FullSite(str(site), str(names[0]), str(after[0]) if after else None, mw))
    return tuple(sorted(found, key=lambda item: (item.since, item.site)))


def _lightest_lot_mw(options: pd.DataFrame, scenario: Scenario) -> float:
    buyable = {row.accelerator for row in scenario.supply if row.max_racks > 0}
    usable = options[options["accelerator"].isin(buyable)]
    lots = usable["accelerator"].map(lambda name: scenario.lifecycle.lot_racks.get(name, 1))
    sizes = lots * usable["provisioned_facility_kw_per_rack"] / 1000
    return float(sizes.min()) if len(sizes) else 1e-3


def _sum_in(power: pd.DataFrame, period: str, column: str) -> float:
    return float(power.loc[power["period"] == period, column].sum())


def _orders_in(orders: pd.DataFrame, quarter: str) -> tuple[OrderNow, ...]:
    """Collect what must be ordered in a quarter; what was committed before is not a decision."""
    rows = orders[(orders["order_quarter"] == quarter) & (orders["kind"] != "committed")]
    found = []
    for (accelerator, kind), part in rows.groupby(["accelerator", "kind"], sort=True):
        sites = part.groupby("site", sort=True)["racks"].sum().sort_values(ascending=False, kind="stable")
        found.append(
            OrderNow(
                str(accelerator),
                str(kind),
                float(part["racks"].sum()),
                tuple((str(site), float(racks)) for site, racks in sites.items()),
                str(part["last_responsible_date"].min()),
                float(part["capex_musd"].sum()),
            )
        )
    return tuple(sorted(found, key=lambda order: (-order.capex_musd, order.accelerator)))


def _next_order(orders: pd.DataFrame, first: str) -> OrderNow | None:
    later = orders[(orders["order_quarter"] > first) & (orders["kind"] != "committed")]
    if later.empty:
        return None
    return _orders_in(orders, str(later["order_quarter"].min()))[0]


def _first_year(orders: pd.DataFrame, scenario: Scenario) -> tuple[tuple[str, float], ...]:
    start = scenario.horizon.start
    quarters = {str(start + offset) for offset in range(4)}
    rows = orders[orders["order_quarter"].isin(quarters) & (orders["kind"] != "committed")]
    racks = rows.groupby("accelerator", sort=True)["racks"].sum()
    return tuple((str(name), float(count)) for name, count in racks.items())


def _short(plan: Plan) -> tuple[ShortWorkload, ...]:
    found = []
    factors = dict(zip(plan.ledger["period"], plan.ledger["discount_factor"], strict=True))
    for workload, rows in plan.work.groupby("workload", sort=True):
        asked = rows[rows["demand_samples_per_s"] > 0]
        share = asked["shortfall_samples_per_s"] / asked["demand_samples_per_s"]
        short = asked[share > SERVED_TOLERANCE]
        if short.empty:
            continue
        at = int(share.to_numpy().argmax())
        npv = sum(
            m * factors.get(p, 1.0) for p, m in zip(short["period"], short["shortfall_musd"], strict=True)
        )
        found.append(
            ShortWorkload(
                str(workload),
                str(short["period"].min()),
                float(share.iloc[at]),
                str(asked["period"].iloc[at]),
                float(npv),
            )
        )
    return tuple(sorted(found, key=lambda item: (item.since, item.workload)))


def _served_share(plan: Plan) -> float:
    """Work served, in money: rates of unlike samples cannot be added, their shortfall prices can."""
    price = {n: w.shortfall_price_usd_per_billion_samples for n, w in plan.scenario.workloads.items()}
    seconds = {period.name: period.seconds for period in plan.scenario.horizon}
    weight = plan.work["workload"].map(price) * plan.work["period"].map(seconds)
    asked = float((weight * plan.work["demand_samples_per_s"]).sum())
    short = float((weight * plan.work["shortfall_samples_per_s"]).sum())
    return 1.0 - short / asked if asked else 1.0


def _parts(ledger: pd.DataFrame) -> tuple[tuple[str, float], ...]:
    totals = ledger.groupby("item", sort=True)["npv_musd"].sum()
    parts = [(str(item), float(npv)) for item, npv in totals.items() if npv != 0]
    return tuple(sorted(parts, key=lambda part: (-part[1], part[0])))


def _order_lines(summary: Summary) -> list[str]:
    if summary.orders_now:
        what = [f"{_order(order)} by {order.order_by}" for order in summary.orders_now]
        return [f"This quarter ({summary.period}): order {join(what)}."]
    if summary.next_order is None:
        return [f"This quarter ({summary.period}): nothing to order, nor later in the plan."]
    order = summary.next_order
    return [f"This quarter ({summary.period}): nothing to order. Next: {_order(order)} by {order.order_by}."]


def _order(order: OrderNow) -> str:
    where = ", ".join(f"{site} {number(racks)}" for site, racks in order.sites)
    kind = "" if order.kind == "new" else f" ({order.kind})"
    return f"{number(order.racks)} {order.accelerator} racks{kind} ({where})"


def _power_line(summary: Summary) -> str:
    used = f"{megawatts(summary.used_mw_first)} of {megawatts(summary.available_mw_first)}"
    if not summary.full_sites:
        return f"Power is nowhere full; {used} are used in {summary.period}."
    places = [
        f"{full.site} from {full.since}" + (f" (until {full.until})" if full.until else "")
        for full in summary.full_sites
    ]
    return f"Power is full at {join(places)}; {used} are used in {summary.period}."


def _work_line(summary: Summary) -> str:
    if not summary.short:
        return f"All demand is served to the end of {summary.last_period}."
    places = [
        f"{item.workload} from {item.since} (worst {percent(item.worst_share)} in {item.worst_period})"
        for item in summary.short
    ]
    served = f"{percent(summary.served_share)} of the work is served, by its price"
    rule = "; shortfall is the least that can be, by priority" if summary.shortfall_first else ""
    return f"Short of work: {join(places)}; {served}{rule}."


def _cost_line(summary: Summary) -> str:
    parts = ", ".join(f"{item} {money(npv)}" for item, npv in summary.parts)
    sunk = f"; {money(summary.sunk_musd)} of it is committed already" if abs(summary.sunk_musd) > 0 else ""
    return f"NPV cost {money(summary.cost_musd)} ({parts}){sunk}."


def _evidence_lines(summary: Summary) -> list[str]:
    lines = [f"{percent(summary.assumed_share)} of the cost rests on assumed prices."]
    for lever in summary.figures[:3]:
        figure = lever.figure
        unit = figure.unit.replace("MUSD", "M USD").replace("/", " per ")
        span = f"{number(figure.low)} to {number(figure.high)} {unit}".rstrip()
        moves = f"{money(lever.at_low_musd, sign=True)} to {money(lever.at_high_musd, sign=True)}"
        value = number(figure.value) if isinstance(figure.value, int | float) else str(figure.value)
        name = (
            ""
            if lever.path.startswith("finance.")
            else f", {lever.path.rsplit('.', 1)[-1].partition('_')[0]}"
        )
        lines.append(f"  {lever.subject}{name}: assumed {value}, range {span}: {moves} on this plan.")
    return lines


def _proof_line(summary: Summary) -> str:
    audit = f"{summary.audit_identities:,} identities hold" if summary.audit_passed else "THE AUDIT FAILED"
    if summary.gap is None or summary.gap_musd is None:
        return f"Not proven: no bound is known ({summary.status}). Audit: {audit}."
    proof = f"no plan is more than {money(summary.gap_musd)} ({percent(summary.gap)}) cheaper"
    return f"Proven: {proof} ({summary.status}). Audit: {audit}."
