"""What a planner writes: one scenario, as typed rows. Every row knows its file and line.

Power in this module is **facility** power unless a name says ``it_``. Money is million US dollars
(nominal, at the price level of the period it falls in). Racks are whole racks.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from fleetplan.figures import Figure, Origin, Status
from fleetplan.inputs.accelerator import Accelerator, Cooling
from fleetplan.inputs.architecture import Model
from fleetplan.periods import Horizon, Quarter

SiteDates = Literal["planned", "slip", "early"]
CarbonMethod = Literal["location_annual", "location_hourly_zone", "market_based"]
ShortfallRule = Literal["priced", "by_priority"]
LifeStage = Literal["forecast", "initial", "refined"]


class Row(BaseModel):
    """A row of an input table, with where it stands and how well it is known."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    origin: Origin
    status: Status = "assumed"
    source: str = ""
    note: str = ""


class Site(Row):
    """A campus: where racks stand, what its power costs and emits."""

    name: str
    title: str
    country: str
    pue_annual: float
    pue_peak: float
    energy_price_usd_per_mwh: float
    energy_price_escalation_per_year: float
    stranded_share: float = 0.0
    """Share of built power that cannot be used because lots do not fill it."""
    tariff_minimum_take_share: float = 0.0
    """Billed share of contracted power, used or not."""
    tariff_term_years: float = 0.0
    tariff_ramp_years: float = 0.0


class Hall(Row):
    """A building or data hall of one cooling class; power limits hold here and at the site."""

    name: str
    site: str
    cooling_class: Cooling
    max_rack_it_kw: float | None = None
    reserve_share: float = 0.0
    """Share of built power kept for the failure of a feed."""
    lot_kw: float | None = None
    """Size of the switchboard or panel that lots should fill; ``None`` where it is not known."""


class HallPower(Row):
    """Facility megawatts of a hall in one quarter."""

    hall: str
    quarter: Quarter
    facility_mw: float
    facility_mw_if_dates_slip: float | None = None
    facility_mw_if_dates_early: float | None = None


class Cohort(Row):
    """Racks of one accelerator in one hall that were commissioned in one quarter."""

    name: str
    site: str
    hall: str
    accelerator: str
    commissioned: Quarter
    racks: int
    purchase_price_musd_per_rack: float
    book_life_years: float


class Supply(Row):
    """What can be delivered of one accelerator in one quarter.

    ``committed_racks`` come in any case; ``option_racks`` are contracted on top and may be taken;
    above both, new orders can come up to ``max_racks`` only where ``new_orders_can_arrive``.
    """

    accelerator: str
    delivery: Quarter
    max_racks: int
    committed_racks: int
    option_racks: int
    new_orders_can_arrive: bool
    lead_time_quarters: int
    price_musd_per_rack: float
    take_or_pay_share_of_price: float


class Rental(Row):
    """Rented capacity: no megawatts of ours, money per period and a lead time."""

    name: str
    accelerator: str
    first: Quarter
    last: Quarter
    max_racks: int
    price_musd_per_rack_quarter: float
    lead_time_quarters: int = 0
    commitment_quarters: int = 1
    """Shortest time for which a rented rack is paid; 1 is on demand."""


class Role(Row):
    """Work outside training that racks can be handed on to, once in their life and where they stand.

    Racks in a role keep their hall's megawatts, their age, their upkeep and their book value; what
    they save elsewhere is income.
    """

    name: str
    accelerator: str
    first: Quarter
    """First quarter in which racks are taken over."""
    last: Quarter
    """Last quarter in which they are needed; afterwards they bring nothing."""
    max_racks: int
    value_musd_per_rack_quarter: float
    cost_share_of_price: float
    """Cost of making a rack ready, as a share of the price paid for it."""
    down_quarters: int = 0
    """Quarters after the hand-over in which a rack brings nothing yet."""
    minimum_age_quarters: int = 0
    """Age from which racks are taken."""


class Workload(Row):
    """A model with the work that is asked of it."""

    name: str
    title: str
    model: str
    priority: int
    """1 gives way last."""
    training_samples_per_run: float
    deadline_days_per_run: float
    deferrable_share: float
    """Share of a period's demand that may be served later."""
    goodput: float | None = None
    """Useful share of running time; ``None``: from the failure model."""
    shortfall_price_usd_per_billion_samples: float
    straggler_factor: float = 1.0
    reference_devices: int
    local_batch: int
    peak_to_average: float = 1.0
    allowed_sites: tuple[str, ...] = ()
    """Empty: every site."""


class Demand(Row):
    """Samples per second to be trained on average through one quarter."""

    workload: str
    quarter: Quarter
    samples_per_s: float


class MeasuredRate(Row):
    """A planner's own measurement, which overrides the step model."""

    workload: str
    accelerator: str
    devices: int
    local_batch: int
    cap_w: float | None = None
    samples_per_s: float


class Upgrade(Row):
    """Module swap in place: the rack, chassis and network stay."""

    from_accelerator: str
    to_accelerator: str
    price_share_of_new_rack: float


class Finance(BaseModel):
    """Money rules. Rates are per year; shares are of the price paid."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    discount_rate: float
    discount_timing: Literal["mid_period", "start_of_period", "end_of_period"]
    income_tax_rate: dict[str, float]
    """By country; empty: no tax."""
    tax_depreciation: Literal["straight_line", "macrs5", "bonus", "none"]
    bonus_share: float = 0.0
    tax_life_years: float = 5.0
    salvage_share_by_age_year: dict[str, tuple[float, ...]]
    """Resale share of price at the end of year 1, 2, … by kind: ``merchant`` or ``own``."""
    maintenance_share_per_year: tuple[tuple[float, float], ...]
    """Steps (from age in years, share of price per year), ages rising from 0."""
    opex_musd_per_facility_mw_year: float
    inflation_per_year: float = 0.0
    deploy_cost_share: float = 0.0
    move_cost_share: float = 0.0
    decommission_cost_share: float = 0.0
    end_value_rule: Literal["resale", "economic_annuity", "book", "none"]
    economic_life_years: float = 5.0
    capex_budget_musd: dict[str, float] = {}
    """Limit on purchases by year (``2027``) or quarter (``2027Q1``); absent: no limit."""
    write_off_limit_musd: dict[str, float] = {}
    """Limit on book write-offs by year."""
    depreciation_limit_musd: dict[str, float] = {}
    """Limit on book depreciation by year."""
    vendor_share_max: float | None = None
    """Most of one vendor in the facility power of a year's new racks; ``None``: no limit."""


class Lifecycle(BaseModel):
    """Ages, lead times and failures. Shares are of racks."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    install_quarters: int
    """Quarters from delivery to service."""
    minimum_age_quarters: int
    maximum_age_quarters: int
    attrition_per_year: float
    attrition_multiplier: float = 1.0
    attrition_multiplier_from_year: float = 5.0
    spare_share: float
    maintenance_share: float
    """Share of racks out for maintenance."""
    burn_in_loss_share: float = 0.0
    """Share of racks that fail in their first quarter and come back repaired."""
    failures_per_1000_node_days: float
    mass_production: dict[str, Quarter] = {}
    power_stage_factor: dict[LifeStage, float]
    """Provisioned power by life stage, as a share of the facility law."""
    lot_racks: dict[str, int]
    """Racks bought and placed together, by accelerator."""
    movable_work_share: float | None = None
    """Share of a workload's work at a site that may leave it per quarter; ``None``: free."""
    diversity_factor: float = 1.0
    """Peak of the sum over sum of peaks in a training-only hall."""


class Carbon(BaseModel):
    """Emissions: intensity by site for the chosen method, embodied carbon, price and cap."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: CarbonMethod
    intensity_g_per_kwh: dict[str, float]
    """By site, in the first year of the horizon, by the chosen method."""
    intensity_by_method: dict[CarbonMethod, dict[str, float]] = {}
    """The same by every method that is stated; a change of ``method`` takes its values from here."""
    intensity_trend_per_year: dict[str, float] = {}
    embodied_t_per_rack: dict[str, float] = {}
    price_usd_per_t: float = 0.0
    cap_mt_per_year: dict[str, float] = {}
    """Operational cap by year; absent: no cap."""


class Rules(BaseModel):
    """Which limits hold and how the plan is chosen; each has one meaning and a safe default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    site_dates: SiteDates = "planned"
    caps_per_accelerator: int = 3
    """Operating points that the plan may choose from, nearest the provisioned one first."""
    allow_early_retirement: bool = True
    allow_moves: bool = False
    allow_upgrades: bool = True
    limit_vendor_share: bool = False
    limit_capex: bool = False
    limit_carbon: bool = False
    price_carbon: bool = False
    limit_work_moves: bool = False
    use_tax: bool = False
    minimum_cluster: bool = False
    decline_committed: bool = False
    """Committed racks beyond their lead time may be declined for the take-or-pay share."""
    integer_retirements: bool = False
    shortfall: ShortfallRule = "priced"
    """``priced``: work is left undone where its price is lower than serving it. ``by_priority``: shortfall is
    kept as small as it can be, priority 1 first, and cost is minimised among the plans that do."""
    previous_plan: str | None = None
    """Folder of an earlier plan to stay close to."""
    frozen_quarters: int = 0
    change_price_musd_per_rack: float = 0.0
    tie_break_tolerance: float = 0.0
    """Second pass: cost may rise by this share to lower the number of changes."""


class Scenario(BaseModel):
    """Everything a plan depends on. Maps are sorted by name and tuples by key, whatever the rows' order."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    name: str
    title: str
    folder: str
    horizon: Horizon
    accelerators: dict[str, Accelerator]
    models: dict[str, Model]
    workloads: dict[str, Workload]
    sites: dict[str, Site]
    halls: dict[str, Hall]
    power: tuple[HallPower, ...]
    fleet: tuple[Cohort, ...]
    supply: tuple[Supply, ...]
    demand: tuple[Demand, ...]
    finance: Finance
    lifecycle: Lifecycle
    carbon: Carbon
    rules: Rules = Rules()
    rentals: tuple[Rental, ...] = ()
    upgrades: tuple[Upgrade, ...] = ()
    roles: tuple[Role, ...] = ()
    measured: tuple[MeasuredRate, ...] = ()
    figures: dict[str, Figure] = {}
    """Every stated figure of the scenario by path, like ``finance.discount_rate``."""
    hashes: dict[str, str] = {}
    """SHA-256 by input file, for the manifest."""
