"""The tables of a plan, their columns, units and meaning.

Rules that hold for all of them: a period is named by its first quarter; ``racks`` are alive at the
end of a period's retirements (that is, during the period); power is facility power unless a column
says ``it_``; money is nominal M USD of the period unless a column says ``npv_``. Costs are positive,
income is negative.
"""

from __future__ import annotations

from fleetplan.tables import TableSpec, flag, number, text

PERIOD = text("period", "first quarter of the period", key=True)
SITE = text("site", "site name", key=True)
HALL = text("hall", "hall name", key=True)
ACCELERATOR = text("accelerator", "accelerator name", key=True)
VINTAGE = text("vintage", "quarter in which the racks went into service", key=True)
WORKLOAD = text("workload", "workload name", key=True)

ORDERS = TableSpec(
    "orders",
    "what to order (or has been committed), when at the latest, and where it lands",
    (
        ACCELERATOR,
        SITE,
        HALL,
        text("service_quarter", "quarter in which the racks go into service", key=True),
        text("kind", "new, committed, option, upgrade or rental", key=True),
        text("order_quarter", "last quarter in which the order can be placed"),
        text("delivery_quarter", "quarter of delivery and payment"),
        text("last_responsible_date", "last day on which the order still arrives in time (ISO)"),
        number("lots", "lots", "lots ordered"),
        number("racks", "racks", "racks ordered"),
        number("price_musd_per_rack", "M USD", "price per rack at delivery"),
        number("capex_musd", "M USD", "racks x price"),
    ),
)
FLEET = TableSpec(
    "fleet",
    "racks alive by cohort and period",
    (SITE, HALL, ACCELERATOR, VINTAGE, PERIOD, number("racks", "racks", "racks alive")),
)
RETIREMENTS = TableSpec(
    "retirements",
    "racks that leave at the start of a period",
    (
        SITE,
        HALL,
        ACCELERATOR,
        VINTAGE,
        PERIOD,
        text("kind", "early, end-of-life, upgrade, moved or attrition", key=True),
        number("racks", "racks", "racks that leave"),
        number("book_value_musd", "M USD", "book value left, written off if early"),
        number("resale_musd", "M USD", "income from resale"),
    ),
)
ROLES = TableSpec(
    "roles",
    "racks handed on to roles outside training, where they stand; the fleet counts them on",
    (
        SITE,
        HALL,
        ACCELERATOR,
        VINTAGE,
        text("role", "role of the scenario", key=True),
        text("since", "period at whose start they were handed on", key=True),
        PERIOD,
        number("racks", "racks", "racks alive in the role"),
        number("value_musd", "M USD", "what they save elsewhere in the period"),
        number("hand_over_musd", "M USD", "cost of making them ready, in the period of the hand-over"),
    ),
)
MODES = TableSpec(
    "modes",
    "racks by power cap",
    (
        SITE,
        HALL,
        ACCELERATOR,
        PERIOD,
        number("cap_w", "W", "power cap per device", key=True),
        number("racks", "racks", "racks run at this cap"),
        number("provisioned_facility_kw_per_rack", "kW", "what one rack counts against the limit"),
    ),
)
ASSIGNMENT = TableSpec(
    "assignment",
    "what trains where, on what, in which option",
    (
        SITE,
        ACCELERATOR,
        WORKLOAD,
        text("option", "training option id", key=True),
        PERIOD,
        number("racks", "racks", "rack equivalents in use on average"),
        number("samples_per_s", "samples/s", "useful rate"),
    ),
)
WORK = TableSpec(
    "work",
    "demand, what is served, deferred and short",
    (
        WORKLOAD,
        PERIOD,
        number("demand_samples_per_s", "samples/s", "asked for, average of the period"),
        number("served_samples_per_s", "samples/s", "trained"),
        number("backlog_samples_per_s", "samples/s", "deferred to later at the end of the period"),
        number("shortfall_samples_per_s", "samples/s", "never served"),
        number("shortfall_musd", "M USD", "price of the shortfall"),
    ),
)
POWER = TableSpec(
    "power",
    "facility power by hall and period",
    (
        SITE,
        HALL,
        PERIOD,
        number("available_mw", "MW", "usable facility power"),
        number("used_mw", "MW", "provisioned facility power of the racks alive"),
        number("headroom_mw", "MW", "available less used"),
    ),
)
POWER_BY_ACCELERATOR = TableSpec(
    "power_by_accelerator",
    "provisioned facility power by site, accelerator and period",
    (SITE, ACCELERATOR, PERIOD, number("used_mw", "MW", "provisioned facility power")),
)
ENERGY = TableSpec(
    "energy",
    "energy, its cost and its emissions by site and period",
    (
        SITE,
        PERIOD,
        number("facility_mwh", "MWh", "facility energy"),
        number("price_usd_per_mwh", "USD/MWh", "energy price"),
        number("energy_musd", "M USD", "cost of energy"),
        number("operational_t", "tCO2e", "emissions of that energy by the scenario's method"),
        number("embodied_t", "tCO2e", "emissions of making the racks that went into service"),
    ),
)
BOOKS = TableSpec(
    "books",
    "book values by accelerator and period; not cash",
    (
        ACCELERATOR,
        PERIOD,
        number("opening_musd", "M USD", "book value at the start"),
        number("additions_musd", "M USD", "racks that went into service"),
        number("depreciation_musd", "M USD", "straight-line depreciation"),
        number("write_off_musd", "M USD", "book value of racks retired early, net of nothing"),
        number("closing_musd", "M USD", "opening + additions - depreciation - write-off"),
    ),
)
LEDGER = TableSpec(
    "ledger",
    "one row per cost item, period and cause; npv_musd sums to the objective",
    (
        text("item", "capex, energy, maintenance, shortfall, resale, end value …", key=True),
        PERIOD,
        text("cause", "accelerator, site, workload or contract that causes it", key=True),
        text("detail", "vintage, hall or option, where one row is not enough", key=True),
        number("amount_musd", "M USD", "nominal cash of the period; income negative"),
        number("discount_factor", "ratio", "present value of one M USD of the period"),
        number("npv_musd", "M USD", "amount x discount factor"),
        flag("sunk", "whether no decision of the plan changes it"),
    ),
)
TABLES = (
    ORDERS,
    FLEET,
    RETIREMENTS,
    ROLES,
    MODES,
    ASSIGNMENT,
    WORK,
    POWER,
    POWER_BY_ACCELERATOR,
    ENERGY,
    BOOKS,
    LEDGER,
)
"""All tables of a plan, in the order in which they are written. The options used are kept beside."""
