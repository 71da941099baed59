"""The sections of a report: each has one message, computed from the plan, as its title."""

from __future__ import annotations

from collections.abc import Iterator

from fleetplan.report import titles
from fleetplan.report.answers import explained_sections, turn_panels, turn_remarks
from fleetplan.report.numbers import say
from fleetplan.report.parts import Panel, Section
from fleetplan.report.source import ReportSource


def sections(source: ReportSource, inputs: tuple[str, ...]) -> Iterator[Section]:
    """All sections below the first screen, in order."""
    yield _orders(source)
    yield _power(source)
    yield _fleet(source)
    yield _work(source)
    yield _steps(source)
    yield _money(source)
    yield _retirements(source)
    yield _carbon(source)
    yield from explained_sections(source)
    yield _assumptions(source)
    yield _inputs(source, inputs)
    yield Section("manifest", "Manifest", titles.manifest(source), titles.proof(source))


def _orders(source: ReportSource) -> Section:
    if source.table("orders").empty:
        return Section("orders", "Orders", say("Nothing is ordered in this plan."))
    first_year = "One bar per lot of the first year, from order through delivery to service."
    panels = (
        Panel("order_times", first_year, ("orders",), is_open=True, legend="accelerator"),
        Panel("landings", "Racks that go into service by period and accelerator.", legend="accelerator"),
    )
    return Section("orders", "Orders", titles.orders(source), titles.order_remarks(source), panels)


def _power(source: ReportSource) -> Section:
    note = say("Facility power, as provisioned: cooling, network and losses are inside.")
    about = "One row per site, one column per period; the darker, the less power is free."
    panels = (Panel("power_share", about, ("power", "power_by_accelerator", "modes"), legend="free"),)
    return Section("power", "Power", titles.power_used(source), (note,), panels)


def _fleet(source: ReportSource) -> Section:
    about = "One row per accelerator, one column per period; the darker, the more racks are alive."
    if source.table("roles").empty:
        return Section("fleet", "Fleet", titles.fleet(source), (), (Panel("fleet_racks", about, ("fleet",)),))
    panel = Panel("fleet_racks", about, ("fleet", "roles"))
    return Section("fleet", "Fleet", titles.fleet(source), (titles.roles(source),), (panel,))


def _work(source: ReportSource) -> Section:
    panels = (
        Panel(
            "service",
            "One row per workload, one column per period; the darker, the more is missing.",
            ("work",),
            legend="served",
        ),
        Panel(
            "assignment",
            "One bar per workload: the share of its samples that each accelerator trains.",
            ("assignment",),
            legend="accelerator",
        ),
    )
    return Section("work", "Work", titles.work(source), titles.work_remarks(source), panels)


def _steps(source: ReportSource) -> Section:
    if source.table("assignment").empty:
        return Section("steps", "Steps", say("No work is assigned, so no training option is in use."))
    about = "One bar per accelerator, for the option that most of its racks use, divided into compute, embedding, exposed communication and floor; device-ms per 1,000 samples."
    panels = (Panel("steps", about, ("options",), facet="workload", legend="part"),)
    return Section("steps", "Steps", titles.steps(source), (), panels)


def _money(source: ReportSource) -> Section:
    panels = (
        Panel(
            "cash",
            "Nominal cash by year and cost item, income below zero, without the end value.",
            ("ledger",),
        ),
        Panel("books", "Book value by period and accelerator.", ("books",), legend="accelerator"),
        Panel("write_offs", "Depreciation and write-offs by year."),
    )
    return Section("money", "Money", titles.money_title(source), titles.money_remarks(source), panels)


def _retirements(source: ReportSource) -> Section:
    if source.table("retirements").empty:
        return Section("retirements", "Retirements", say("No rack retires within the horizon."))
    panels = (
        Panel(
            "retirements", "Racks retired by period and accelerator.", ("retirements",), legend="accelerator"
        ),
    )
    return Section("retirements", "Retirements", titles.retirements(source), (), panels)


def _carbon(source: ReportSource) -> Section:
    panels = (Panel("carbon", "Emissions by year, of energy and of making the racks.", ("energy",)),)
    return Section("carbon", "Carbon", titles.carbon(source), titles.carbon_remarks(source), panels)


def _assumptions(source: ReportSource) -> Section:
    about = "One bar per open figure: how the cost of this plan moves from its low to its high end."
    panels = (Panel("tornado", about, ("assumptions",), is_open=True), *turn_panels(source))
    remarks = (*titles.evidence_remarks(source), *turn_remarks(source))
    return Section("assumptions", "Assumptions", titles.assumptions(source), remarks, panels)


def _inputs(source: ReportSource, names: tuple[str, ...]) -> Section:
    return Section(
        "inputs", "Inputs", titles.inputs(source), (), tuple(Panel(tables=(name,)) for name in names)
    )
