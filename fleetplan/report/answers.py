"""Sections that an explanation fills: what binds, why not, ties, what turns, the horizon.

Without an explanation each says in a sentence what was not asked, and what the tables alone show.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetplan.report.numbers import Message, listed, say
from fleetplan.report.parts import Panel, Section
from fleetplan.report.source import ReportSource, unique

_ASK = "run fleetplan explain"


def explained_sections(source: ReportSource) -> Iterator[Section]:
    """The sections on what binds, why not, ties and the horizon."""
    yield _binds(source)
    yield _why_not(source)
    yield _ties(source)
    yield _horizon(source)


def turn_remarks(source: ReportSource) -> tuple[Message, ...]:
    """Which assumed figures turn an order of the first year; else that it was not asked."""
    found = source.explanation.assumptions if source.explanation else None
    if found is None:
        note = "The moves below are for this plan as it is. Which of them would change it was not asked"
        return (say(f"{note}: {_ASK}."),)
    return (say("The bars are for this plan as it is."), *_said(found.lines()))


def turn_panels(source: ReportSource) -> tuple[Panel, ...]:
    """The table of what each end of an interval turns."""
    return (Panel(tables=("turns",), is_open=True),) if "turns" in source.extras else ()


def _binds(source: ReportSource) -> Section:
    found = source.explanation.prices if source.explanation else None
    if found is None:
        note = say(f"What one more megawatt, rack or dollar is worth was not asked: {_ASK}.")
        return Section("binds", "What binds", _full(source), (*_when_full(source), note))
    about = "One row per site, one column per period; the darker, the more one more megawatt is worth."
    tables = Panel(tables=("prices",), is_open=True)
    if not found.of("power"):
        return Section("binds", "What binds", _worth(source), _said(found.lines()), (tables,))
    return Section(
        "binds", "What binds", _worth(source), _said(found.lines()[1:7]), (Panel("worth", about), tables)
    )


def _worth(source: ReportSource) -> Message:
    """Where one more megawatt is worth most."""
    rows = source.extras["prices"]
    power = rows[rows["kind"] == "power"]
    if rows.empty:
        return say("Nothing binds: no limit is worth raising.")
    if power.empty:
        return say("Power binds nowhere; other limits do.")
    top = power.iloc[int(power["worth_musd"].to_numpy().argmax())]
    where = {"kind": ["power"], "site": [str(top["site"])], "period": [str(top["period"])]}
    worth = source.number("prices", "worth_musd", "M USD", where)
    site = source.title("site", str(top["site"]))
    return say(f"One more megawatt is worth most at {site} in {top['period']}: ", worth, ".")


def _full(source: ReportSource) -> Message:
    """Which limit holds the plan back, as far as the tables show it."""
    full = source.summary.full_sites
    if not full:
        return say("Power binds nowhere for long: every site has room for another lot.")
    names = [source.title("site", f.site) for f in full]
    return say("No further lot fits at ", listed(names, 4, "more sites"), ".")


def _when_full(source: ReportSource) -> tuple[Message, ...]:
    full = source.summary.full_sites
    lines = [
        f"{source.title('site', f.site)} from {f.since}" + (f" until {f.until}" if f.until else " to the end")
        for f in full
    ]
    return (say("Full: ", listed(lines, 12), "."),) if lines else ()


def _why_not(source: ReportSource) -> Section:
    answers = source.explanation.why_not if source.explanation else ()
    title = _left_out(source)
    if not answers:
        asked = source.explanation is not None and title == say(_ALL_BOUGHT)
        note = (
            () if asked else (say(f"At what price, speed or power one would enter was not asked: {_ASK}."),)
        )
        return Section("why-not", "Why not", title, note)
    remarks = _said([line for answer in answers for line in answer.lines()])
    panels = (Panel(tables=("why_not",), is_open=True),)
    return Section("why-not", "Why not", title, remarks, panels)


_ALL_BOUGHT = "Every accelerator that can be ordered is bought."


def _left_out(source: ReportSource) -> Message:
    """Accelerators that could be ordered and are not."""
    orders = source.table("orders")
    bought = set(orders.loc[(orders["kind"] != "committed") & (orders["racks"] > 0), "accelerator"])
    offered = unique(
        row.accelerator
        for row in source.scenario.supply
        if row.new_orders_can_arrive and row.max_racks > row.committed_racks
    )
    names = [source.title("accelerator", name) for name in offered if name not in bought]
    if not names:
        return say(_ALL_BOUGHT)
    return say("Not bought though it could be: ", listed(names, 8), ".")


def _ties(source: ReportSource) -> Section:
    found = source.explanation.ties if source.explanation else None
    if found is None:
        title = say("Which orders are ties within the proven gap was not asked.")
        return Section("ties", "Ties", title, (say(f"To ask, {_ASK}."),))
    free = source.number("ties", "racks", "", {"forced": ["False"]}, "rows")
    every = source.number("ties", "racks", "", {}, "rows")
    title = say(free, " of ", every, " orders of the first year could differ at almost the same cost.")
    panels = (Panel(tables=("ties",), is_open=True),)
    return Section("ties", "Ties", title, _said(found.lines()), panels)


def _horizon(source: ReportSource) -> Section:
    found = source.explanation.horizon if source.explanation else None
    if found is None:
        title = say("How the first year would change with a longer horizon was not asked.")
        return Section("horizon", "Horizon", title, (say(f"To ask, {_ASK}."),))
    panels = (Panel(tables=("longer_horizon",), is_open=True),)
    return Section("horizon", "Horizon", say(*found.lines()), (), panels)


def _said(lines: list[str]) -> tuple[Message, ...]:
    return tuple(say(line.strip()) for line in lines if line.strip())
