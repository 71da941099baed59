"""Compute beside communication: contention, chunks, and what stays exposed. Any one unit of time.

With isolated times a (compute) and m (communication) and rates kc, km while both run::

    T_overlap(a, m) = max(a + (1-kc)/km · m,  m + (1-km)/kc · a)    if kc + km > 1, else a + m

and, chunk-centric, with C chunks of cost alpha::

    T(C) = T_overlap + (a + m - T_overlap)/C + C · alpha,   C* = sqrt((a + m - T_overlap)/alpha)

The first is the closed form of two pieces of work that slow each other down while both last; it
reproduces Fig 16 of the MTIA 300 paper (ISCA 2026). The second pays one chunk's serial head and tail:
C = 1 is serial, C without end and without cost is full overlap (Syncopate, arXiv:2601.20595).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fleetplan.performance.rates import Rates

MOST_CHUNKS = 64
"""More chunks than this are smaller than a kernel's last wave."""


def overlapped(a: ArrayLike, m: ArrayLike, kc: ArrayLike, km: ArrayLike) -> NDArray[np.float64]:
    """Time of compute ``a`` beside communication ``m``; never more than serial, never less than either."""
    work, wire = np.asarray(a, dtype=np.float64), np.asarray(m, dtype=np.float64)
    compute_rate, wire_rate = np.asarray(kc, dtype=np.float64), np.asarray(km, dtype=np.float64)
    both = np.maximum(
        work + (1 - compute_rate) / wire_rate * wire, wire + (1 - wire_rate) / compute_rate * work
    )
    return np.minimum(both, work + wire)


def hidden_share(kc: float, km: float) -> float:
    """Useful part of hidden communication where compute is longer: (kc + km - 1)/km, at least 0."""
    return max(0.0, (kc + km - 1) / km)


def chunked(
    a: ArrayLike, m: ArrayLike, kc: ArrayLike, km: ArrayLike, chunks: ArrayLike, alpha: ArrayLike
) -> NDArray[np.float64]:
    """Time with ``chunks`` chunks of fixed cost ``alpha`` each; one chunk is serial."""
    full = overlapped(a, m, kc, km)
    serial = np.asarray(a, dtype=np.float64) + np.asarray(m, dtype=np.float64)
    count = np.asarray(chunks, dtype=np.float64)
    made = np.asarray(full + (serial - full) / count + count * np.asarray(alpha, dtype=np.float64))
    return np.where(count <= 1, serial, made)


def best_chunks(
    a: ArrayLike, m: ArrayLike, kc: ArrayLike, km: ArrayLike, alpha: ArrayLike
) -> NDArray[np.float64]:
    """The whole number of chunks, at most :data:`MOST_CHUNKS`, with the least time; 1 where none pays."""
    full = overlapped(a, m, kc, km)
    serial = np.asarray(a, dtype=np.float64) + np.asarray(m, dtype=np.float64)
    cost = np.broadcast_to(np.asarray(alpha, dtype=np.float64), full.shape)
    ideal = np.where(cost > 0, np.sqrt(np.maximum(serial - full, 0.0) / np.maximum(cost, 1e-15)), MOST_CHUNKS)
    low = np.clip(np.floor(ideal), 1, MOST_CHUNKS)
    high = np.clip(low + 1, 1, MOST_CHUNKS)
    options = np.stack([np.ones_like(low), low, high])
    times = np.stack([chunked(a, m, kc, km, option, cost) for option in options])
    picked: NDArray[np.float64] = np.take_along_axis(options, times.argmin(axis=0)[None], axis=0)[0]
    return picked


def contention(rates: Rates, collective: str) -> tuple[float, float]:
    """(kc, km) of a collective on this engine; ``collective`` is alltoall, allreduce or allgather."""
    return rates[f"overlap_compute_{collective}"], rates[f"overlap_comm_{collective}"]
