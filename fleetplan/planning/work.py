"""Work: which racks train what, what is deferred, what is short.

Sets: sites ``s``, options ``o`` = (workload, accelerator, devices, batch, cap) that can win, periods.
Variables: ``use[s, o, t]`` racks in use on average, ``short[w, t]``, ``backlog[w, t]`` in units of work.

::

    capacity  sum_{o of k, m} peak_w use[s,o,t] <= ready sum_{h in s} capped[h,k,m,t], = above the lowest m
    burn_in   sum_{o of k}    peak_w use[s,o,t] <= ready (sum_h racks[h,k,t] - lost sum arrivals_t)
    demand    D_t (sum_{s, o} rate_o use[s,o,t] + rented + short[w,t]) + change of backlog[w,t] = D_t d_wt
    backlog   backlog[w,t] <= deferrable share x d_wt (one quarter's worth); 0 at the end
    short     short[w,t] <= d_wt: work that is deferred is served later, not dropped later

Racks out of use count at their lowest cap: a higher one that nobody uses would take contract power in
name only. ``ready = (1 - spare)(1 - maintenance)``, ``D_t`` quarters of the period, ``lost`` the share of
new racks that fail in their first quarter. Throughput is concave in the devices of a job: options of few
devices are faster per rack, and those that miss the deadline are no options. A job runs inside one site:
an option whose job is larger than the site's power has no column there.

With ``limit_work_moves``, work at a site may fall by a share per quarter only:

::

    gravity   rate use[s,w,t] >= (1 - share)^D_t rate use[s,w,t-1] - excused[s,w,t]
    excuse    sum_s excused[s,w,t] <= demand that goes away + short[w,t] + backlog[w,t] + backlog[w,t-2]

With ``minimum_cluster``, a site that trains a workload gives it at least one run that meets the deadline:

::

    least     rate use[s,w,t] >= run_w open[s,w,t]          most   rate use[s,w,t] <= U open[s,w,t]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fleetplan.planning.form import Block, Bools, Entries, Floats, Form, Ints, lookup, mapped, numbered
from fleetplan.planning.indices import Indices
from fleetplan.planning.power import Power
from fleetplan.planning.rentals import Rentals
from fleetplan.planning.supply import Supply


@dataclass(frozen=True)
class Work:
    """``uses``: site, accelerator, cap_w, k (row of options), w (number), t, col, rate, peak."""

    uses: pd.DataFrame
    short: Block
    backlog: Block


def add_work(form: Form, ix: Indices, power: Power, supply: Supply, rentals: Rentals) -> Work:
    """Add use, demand and capacity rows, and the optional limits on work."""
    uses = _uses(form, ix, power)
    short, backlog = _open_work(form, ix)
    work = Work(uses, short, backlog)
    _capacity(form, ix, power, work)
    _burn_in(form, ix, power, supply, work)
    _demand(form, ix, work, rentals)
    if ix.scenario.rules.limit_work_moves and ix.scenario.lifecycle.movable_work_share is not None:
        _gravity(form, ix, work)
    if ix.scenario.rules.minimum_cluster:
        _clusters(form, ix, work)
    return work


def ready_share(ix: Indices) -> float:
    """Share of racks that are neither spare nor in maintenance."""
    lifecycle = ix.scenario.lifecycle
    return (1 - lifecycle.spare_share) * (1 - lifecycle.maintenance_share)


def short_price(ix: Indices, workload: str) -> Floats:
    """M USD of one unit of a workload's work short through each period."""
    price = ix.scenario.workloads[workload].shortfall_price_usd_per_billion_samples
    return price / 1e9 / 1e6 * ix.choices.scale[workload] * ix.calendar.seconds


def _uses(form: Form, ix: Indices, power: Power) -> pd.DataFrame:
    """One column for each site, option and period in which its racks can stand."""
    stands = power.modes[["site", "accelerator", "cap_w", "t"]].drop_duplicates()
    options = ix.choices.options.assign(k=np.arange(len(ix.choices.options)))
    uses = stands.merge(options, on=["accelerator", "cap_w"])
    uses = uses[_allowed(ix, uses) & _fits_site(ix, uses)]
    uses = uses.sort_values(["site", "accelerator", "k", "t"], ignore_index=True)
    keys = uses[["site", "accelerator", "option"]].assign(period=ix.calendar.label(uses["t"]))
    uses["col"] = form.variables("use", keys).cols
    uses["w"] = numbered(uses["workload"], ix.choices.workloads)
    uses["peak"] = mapped(uses["workload"], ix.choices.peak)
    return uses


def _allowed(ix: Indices, uses: pd.DataFrame) -> Bools:
    places = {name: w.allowed_sites for name, w in ix.scenario.workloads.items()}
    pairs = uses[["workload", "site"]].drop_duplicates(ignore_index=True)
    every = zip(pairs["workload"].tolist(), pairs["site"].tolist(), strict=True)
    allowed = np.array([not places[w] or s in places[w] for w, s in every], dtype=bool)
    return allowed[lookup(pairs, ["workload", "site"], uses)]


def _fits_site(ix: Indices, uses: pd.DataFrame) -> Bools:
    """Whether one job of the option could ever be powered inside the site."""
    halls = ix.places.halls
    most = {
        site: float(ix.places.usable_mw[(halls["site"] == site).to_numpy()].sum(axis=0).max())
        for site in sorted(ix.scenario.sites)
        if (halls["site"] == site).any()
    }
    job_mw = uses["job_racks"] * uses["average_kw"] / 1000
    return np.asarray(job_mw.to_numpy() <= mapped(uses["site"], most), dtype=bool)


def _work_keys(ix: Indices) -> pd.DataFrame:
    workloads, names = ix.choices.workloads, ix.calendar.names
    return pd.DataFrame({"workload": np.repeat(workloads, len(names)), "period": names * len(workloads)})


def _demands(ix: Indices) -> Floats:
    """(workloads, T) in units of work."""
    return np.array([ix.choices.demand[name] for name in ix.choices.workloads])


def _open_work(form: Form, ix: Indices) -> tuple[Block, Block]:
    keys, demand = _work_keys(ix), _demands(ix)
    short = form.variables("short", keys, upper=demand.reshape(-1))
    shares = [ix.scenario.workloads[name].deferrable_share for name in ix.choices.workloads]
    limit = demand * np.array(shares)[:, None]
    limit[:, -1] = 0.0
    return short, form.variables("backlog", keys, upper=limit.reshape(-1))


def _capacity(form: Form, ix: Indices, power: Power, work: Work) -> None:
    on = ["site", "accelerator", "cap_w", "t"]
    keys = power.modes[on].drop_duplicates().sort_values(on, ignore_index=True)
    used, stand = lookup(keys, on, work.uses), lookup(keys, on, power.modes)
    entries = Entries.of(used, work.uses["col"], work.uses["peak"])
    entries = entries + Entries.of(stand, power.modes["col"], -ready_share(ix))
    labels = keys[["site", "accelerator", "cap_w"]].assign(period=ix.calendar.label(keys["t"]))
    above = (keys["cap_w"] > keys.groupby(["site", "accelerator"])["cap_w"].transform("min")).to_numpy()
    wanted = np.union1d(used, np.flatnonzero(above))
    lower = np.where(above, 0.0, -np.inf)[wanted]
    form.rows("capacity", *_only(labels, entries, wanted), lower=lower, upper=0.0)


def _only(keys: pd.DataFrame, entries: Entries, rows: Ints) -> tuple[pd.DataFrame, Entries]:
    """The rows given, renumbered."""
    number = np.full(len(keys), -1)
    number[rows] = np.arange(len(rows))
    kept = number[entries.row] >= 0
    return keys.iloc[rows], Entries.of(number[entries.row[kept]], entries.col[kept], entries.value[kept])


def _burn_in(form: Form, ix: Indices, power: Power, supply: Supply, work: Work) -> None:
    """Racks that fail in their first quarter are missing in the period in which they enter."""
    lost = ix.scenario.lifecycle.burn_in_loss_share
    landings, table = ix.deliveries.landings, ix.deliveries.table
    if lost <= 0 or landings.empty:
        return
    d = landings["delivery"].to_numpy(dtype=np.int64)
    entry = table["entry"].to_numpy(dtype=np.int64)[d]
    on = ["site", "accelerator", "t"]
    sites = {hall: row.site for hall, row in ix.scenario.halls.items()}
    lands = pd.DataFrame(
        {
            "site": [sites[hall] for hall in landings["hall"]],
            "accelerator": table["accelerator"].to_numpy()[d],
            "t": entry,
        }
    )
    keys = lands.drop_duplicates().sort_values(on, ignore_index=True)
    cells = power.modes[[*on, "col"]]
    of_use, of_cell = lookup(keys, on, work.uses), lookup(keys, on, cells)
    ready = ready_share(ix)
    used, stands = of_use >= 0, of_cell >= 0
    entries = Entries.of(of_use[used], work.uses["col"].to_numpy()[used], work.uses["peak"].to_numpy()[used])
    entries = entries + Entries.of(of_cell[stands], cells["col"].to_numpy()[stands], -ready)
    share = lost * ready / ix.calendar.quarters[entry]
    entries = entries + supply.arrivals(lookup(keys, on, lands), share)
    labels = keys[["site", "accelerator"]].assign(period=ix.calendar.label(keys["t"]))
    form.rows("burn_in", *_only(labels, entries, np.unique(of_use[used])), upper=0.0)


def _demand(form: Form, ix: Indices, work: Work, rentals: Rentals) -> None:
    total = len(ix.calendar)
    count = len(ix.choices.workloads) * total
    length = np.tile(ix.calendar.quarters.astype(float), len(ix.choices.workloads))
    every = np.arange(count)
    entries = Entries.none()
    for uses in (work.uses, rentals.uses):
        row = uses["w"].to_numpy(dtype=np.int64) * total + uses["t"].to_numpy(dtype=np.int64)
        entries = entries + Entries.of(row, uses["col"], uses["rate"].to_numpy() * length[row])
    entries = entries + Entries.of(every, work.short.cols, length)
    entries = entries + Entries.of(every, work.backlog.cols, 1.0)
    later = every[every % total != 0]
    entries = entries + Entries.of(later, work.backlog.cols[later - 1], -1.0)
    due = _demands(ix).reshape(-1) * length
    form.rows("demand", _work_keys(ix), entries, lower=due, upper=due)


def _site_work(work: Work) -> pd.DataFrame:
    """Distinct site, w, t in which work can be done, sorted."""
    return (
        work.uses[["site", "workload", "w", "t"]]
        .drop_duplicates()
        .sort_values(["site", "w", "t"], ignore_index=True)
    )


def _gravity(form: Form, ix: Indices, work: Work) -> None:
    share = ix.scenario.lifecycle.movable_work_share or 0.0
    places = _site_work(work)
    places = places[places["t"] > 0].reset_index(drop=True)
    keys = places[["site", "workload"]].assign(period=ix.calendar.label(places["t"]))
    excused = form.variables("excused", keys)
    now = lookup(places, ["site", "w", "t"], work.uses)
    before = lookup(places, ["site", "w", "t"], work.uses.assign(t=work.uses["t"] + 1))
    rate, col = work.uses["rate"].to_numpy(), work.uses["col"].to_numpy()
    t_before = np.minimum(work.uses["t"].to_numpy(dtype=np.int64), len(ix.calendar) - 1)
    stays = (1 - share) ** ix.calendar.quarters[t_before].astype(float)
    entries = Entries.of(now[now >= 0], col[now >= 0], rate[now >= 0])
    gone = before >= 0
    entries = entries + Entries.of(before[gone], col[gone], -(rate * stays)[gone])
    entries = entries + Entries.of(np.arange(len(excused)), excused.cols, 1.0)
    form.rows("gravity", keys, entries, lower=0.0)
    _excuses(form, ix, work, places, excused)


def _excuses(form: Form, ix: Indices, work: Work, places: pd.DataFrame, excused: Block) -> None:
    total = len(ix.calendar)
    demand = _demands(ix)
    length = ix.calendar.quarters.astype(float)
    rows = np.arange(demand.size)
    t = rows % total
    later = rows[t > 0]
    row = places["w"].to_numpy(dtype=np.int64) * total + places["t"].to_numpy(dtype=np.int64)
    entries = Entries.of(row, excused.cols, 1.0) + Entries.of(later, work.short.cols[later], -1.0)
    entries = entries + Entries.of(later, work.backlog.cols[later], -1.0 / length[t[later]])
    third = rows[t > 1]
    entries = entries + Entries.of(third, work.backlog.cols[third - 2], -1.0 / length[t[third] - 1])
    falls = np.maximum(0.0, np.hstack([np.zeros((len(demand), 1)), -np.diff(demand, axis=1)])).reshape(-1)
    form.rows("excuse", *_only(_work_keys(ix), entries, later), upper=falls[later])


def _clusters(form: Form, ix: Indices, work: Work) -> None:
    places = _site_work(work)
    keys = places[["site", "workload"]].assign(period=ix.calendar.label(places["t"]))
    is_open = form.variables("open", keys, integer=True, upper=1.0)
    rates = Entries.of(lookup(places, ["site", "w", "t"], work.uses), work.uses["col"], work.uses["rate"])
    every = np.arange(len(is_open))
    run, most = _run_sizes(ix, places)
    form.rows("least", keys, rates + Entries.of(every, is_open.cols, -run), lower=0.0)
    form.rows("most", keys, rates + Entries.of(every, is_open.cols, -most), upper=0.0)


def _run_sizes(ix: Indices, places: pd.DataFrame) -> tuple[Floats, Floats]:
    """Rate of one run that meets its deadline (never above the demand), and the most that can be used."""
    demand = _demands(ix)
    w, t = places["w"].to_numpy(dtype=np.int64), places["t"].to_numpy(dtype=np.int64)
    per_run = []
    for name in ix.choices.workloads:
        workload = ix.scenario.workloads[name]
        seconds = workload.deadline_days_per_run * 86400
        per_run.append(workload.training_samples_per_run / seconds / ix.choices.scale[name])
    shares = np.array([ix.scenario.workloads[name].deferrable_share for name in ix.choices.workloads])
    waiting = np.hstack([np.zeros((len(demand), 1)), demand[:, :-1] * shares[:, None]])
    most = demand[w, t] + waiting[w, t]
    return np.minimum(np.array(per_run)[w], demand[w, t]), most
