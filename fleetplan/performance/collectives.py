"""Times of collectives on a two-level fabric: domains of S devices, NICs between them. Seconds.

D ranks fill n = ceil(D/S) domains. Volumes are bytes per device. Laws and their evidence:

* all-to-all: ``calls·alpha(D) + max(rho·V·f_in/(Bu·eta_u), rho·V·f_out/(Bo·eta_o))`` with
  f_in = (S-1)/D, f_out = (D-S)/D; V is the mean rank's bytes, rho the slowest over the mean;
* ring all-reduce in a domain: ``alpha + 2(S-1)/S·V/(Bu·eta)·(1 + sqrt(V0/V))``; in-switch:
  ``alpha + (S+1)/S·V/L·(1 + sqrt(V0/V))``, taken from five ranks on where it is faster;
* tree: ``2·log2(D)·hop + 2·V/rate``: for small messages;
* across domains: reduce-scatter inside, all-reduce of V/S outside, all-gather inside; the outer phase
  hides the inner one but for a serial share;
* all-gather and reduce-scatter: half the volume factor, no in-switch gain.

Measured tables (:class:`MeasuredCollectives`) override the laws where they hold a cell; the answer
says which was used. Sources: nccl-tests sweeps, NCCL's tuning model, MTIA 300 paper Fig 15 and 17.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from fleetplan.performance.measured import MeasuredCollectives
    from fleetplan.performance.rates import Rates

Collective = Literal["alltoall", "allreduce", "allgather", "reducescatter"]


@dataclass(frozen=True)
class CollectiveTime:
    """Seconds per option, with the law or table that gave them."""

    seconds: NDArray[np.float64]
    law: str


def collective_time(
    collective: Collective,
    rates: Rates,
    volume: ArrayLike,
    ranks: ArrayLike,
    *,
    calls: float = 1.0,
    tables: MeasuredCollectives | None = None,
    like: Collective | None = None,
) -> CollectiveTime:
    """Seconds of one collective of ``volume`` bytes per device over ``ranks`` devices.

    For all-gather, ``volume`` is the gathered size; for reduce-scatter and all-reduce the full
    buffer; for all-to-all what the slowest rank sends. ``like`` names the collective whose share of the
    isolated rate inside a step applies, where it is another one. Zero bytes or one rank take no time.
    """
    size, group = np.broadcast_arrays(np.asarray(volume, np.float64), np.asarray(ranks, np.float64))
    law = _LAWS[collective](rates, size, group, calls) / rates[_IN_STEP[like or collective]]
    name = _law_name(collective, rates, group)
    if tables is not None:
        measured = tables.seconds(rates.accelerator.name, collective, size / calls, group) * calls
        found = np.isfinite(measured)
        law = np.where(found, measured, law)
        name = f"measured table ({int(found.sum())} of {found.size}), else {name}" if found.any() else name
    return CollectiveTime(np.where((group > 1) & (size > 0), law, 0.0), name)


def alltoall_fixed(rates: Rates, ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fixed seconds of one all-to-all call among ``ranks``.

    A rank posts to the peers of its domain and once to each other domain (rail-aggregated sends).
    """
    crossing = np.where(ranks > rates.domain, rates["alltoall_cross_us"], 0.0)
    peers = np.minimum(ranks, rates.domain) + np.ceil(ranks / rates.domain) - 1
    posts: NDArray[np.float64] = rates["alltoall_per_rank_us"] * peers
    return 1e-6 * (rates["alltoall_fixed_us"] + crossing + posts)


def _alltoall(
    rates: Rates, size: NDArray[np.float64], ranks: NDArray[np.float64], calls: float
) -> NDArray[np.float64]:
    local = np.minimum(ranks, rates.domain)
    inside = size * (local - 1) / ranks / (rates.scaleup * rates["alltoall_scaleup_share"])
    outside = size * (ranks - local) / ranks / (rates.scaleout * rates["alltoall_scaleout_share"])
    wire = np.maximum(inside, outside)
    seconds: NDArray[np.float64] = calls * alltoall_fixed(rates, ranks) + wire
    return seconds


def ring_allreduce(
    rates: Rates, size: NDArray[np.float64], ranks: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Ring all-reduce inside one domain."""
    wire = 2 * (ranks - 1) / ranks * size / (rates.scaleup * rates["ring_share"])
    return _fixed(rates) + wire * _size_term(rates["allreduce_half_size_mb"], size)


def tree_allreduce(
    rates: Rates, size: NDArray[np.float64], ranks: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Double-tree all-reduce over the NICs: short latency, twice the volume."""
    hops = np.log2(np.maximum(ranks, 2))
    fixed = (rates["scaleout_fixed_us"] + rates["scaleout_hop_us"] * hops) * 1e-6
    return fixed + 2 * size / (rates.scaleout * rates["scaleout_reduce_share"])


def in_switch_allreduce(
    rates: Rates, size: NDArray[np.float64], ranks: NDArray[np.float64]
) -> NDArray[np.float64]:
    """All-reduce in the switch: each device sends its buffer once; endless where there is none."""
    if not rates.accelerator.in_switch_reduction:
        return np.full_like(size, np.inf)
    wire = (ranks + 1) / ranks * size / (rates["in_switch_gb_per_s"] * 1e9)
    time = _fixed(rates) + wire * _size_term(rates["allreduce_half_size_mb"], size)
    return np.where(ranks >= rates["in_switch_min_ranks"], time, np.inf)


def _allreduce(
    rates: Rates, size: NDArray[np.float64], ranks: NDArray[np.float64], calls: float
) -> NDArray[np.float64]:
    part = size / calls
    local = np.minimum(ranks, rates.domain)
    inner = np.minimum(ring_allreduce(rates, part, local), in_switch_allreduce(rates, part, local))
    inner = np.where(local > 1, inner, 0.0)
    domains = np.ceil(ranks / rates.domain)
    outer = _across(rates, part / local, domains, 2.0)
    whole = _hierarchical(rates, inner, outer)
    return calls * np.where(domains > 1, whole, inner)


def _gather(
    rates: Rates, size: NDArray[np.float64], ranks: NDArray[np.float64], calls: float
) -> NDArray[np.float64]:
    part = size / calls
    local = np.minimum(ranks, rates.domain)
    wire = (local - 1) / local * part / (rates.scaleup * rates["gather_share"])
    inner = np.where(local > 1, _fixed(rates) + wire, 0.0)
    domains = np.ceil(ranks / rates.domain)
    outer = _across(rates, part / local, domains, 1.0)
    whole = _hierarchical(rates, inner, outer)
    return calls * np.where(domains > 1, whole, inner)


def _across(
    rates: Rates, size: NDArray[np.float64], domains: NDArray[np.float64], factor: float
) -> NDArray[np.float64]:
    """Phase over the NICs: latency grows with log2 of the domains, each device carries V/S."""
    fixed = (rates["scaleout_fixed_us"] + rates["scaleout_hop_us"] * np.log2(np.maximum(domains, 1))) * 1e-6
    wire = factor * (domains - 1) / domains * size / (rates.scaleout * rates["scaleout_reduce_share"])
    return fixed + wire * _size_term(rates["scaleout_half_size_mb"], size * np.minimum(rates.domain, 8))


def _hierarchical(
    rates: Rates, inner: NDArray[np.float64], outer: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The longer phase, and the serial share of the shorter one."""
    serial = rates["hierarchy_serial_share"]
    return np.maximum(inner, outer) + serial * np.minimum(inner, outer)


def _fixed(rates: Rates) -> float:
    return rates["allreduce_fixed_us"] * 1e-6


def _size_term(half_mb: float, size: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 + sqrt(V0/V): below V0 the protocol has not reached its rate."""
    return 1 + np.sqrt(half_mb * 1e6 / np.maximum(size, 1.0))


def _law_name(collective: Collective, rates: Rates, ranks: NDArray[np.float64]) -> str:
    engine = "message engine" if rates.is_offloaded else "compute units"
    shape = "two levels" if np.max(ranks, initial=0) > rates.domain else "one domain"
    kind: str = collective
    if collective == "allreduce":
        kind += " in switch" if rates.accelerator.in_switch_reduction else " ring"
    return f"law: {kind}, {shape}, {engine}"


_IN_STEP: dict[Collective, str] = {
    "alltoall": "training_alltoall_share",
    "allreduce": "training_reduce_share",
    "allgather": "training_gather_share",
    "reducescatter": "training_gather_share",
}
_LAWS: dict[Collective, Callable[..., NDArray[np.float64]]] = {
    "alltoall": _alltoall,
    "allreduce": _allreduce,
    "allgather": _gather,
    "reducescatter": _gather,
}
