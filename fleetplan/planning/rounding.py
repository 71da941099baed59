"""Whole lots from a relaxed plan by hand: commitments placed, halls within their power, sums kept.

A study solves the same kind of model hundreds of times, and what takes time is the search for whole
lots. Most of it can be told beforehand: lots are rounded down; what must come is put where there is
power for it; lots that still fit are added, delivery by delivery, so that each accelerator comes in
the number that the relaxed plan wanted. What is proposed here need not be good, nor even possible:
the solving room completes it by a linear solve and judges it by the bound.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from fleetplan.solving.moves import Guess

if TYPE_CHECKING:
    from fleetplan.solving.arrays import Compiled, Floats, Ints

DUST = 1e-6
"""Distance from a whole number, or from a limit in MW, that counts as none."""
LANDINGS, RACKS, CAPPED, POWER = "fleet", "racks", "capped", "power"
COHORT, LEAVE, SUPPLY, BURN_IN = "cohort", "leave", "supply", "burn_in"
"""Families of the planning model that say what a lot draws, where and when."""
ONE_MORE_FROM = 0.5
"""Part of a lot from which a delivery gets one more."""
MOST_CHAINS = 30
"""Moves that are tried together with a second one."""
MOST_MOVES = 60
"""Lots moved or dropped in one hall before it is left as it is."""


def whole_lots(compiled: Compiled, x: Floats, row_dual: Floats) -> Guess | None:
    """Whole numbers near the relaxed plan ``x``; ``None`` for models of another kind.

    Where not all lots find power, those go first whose supply has the highest price for a megawatt.
    The lots of one hall are rivals: they compete for its power.
    """
    place = _Halls(compiled, x, row_dual)
    if not place.load:
        return None
    return Guess(_Rounding(compiled, x, place).made(), place.rivals)


@dataclass(frozen=True)
class _Group:
    """Whole columns that must reach a sum together: lots of one delivery, over the halls."""

    columns: tuple[int, ...]
    least: float
    most: float


class _Halls:
    """Power left in every hall and quarter by the relaxed plan, and what one unit of a column takes.

    Racks count at their lowest cap, which is what a hall must bear; higher caps use what is left.
    """

    def __init__(self, compiled: Compiled, x: Floats, row_dual: Floats) -> None:
        self.compiled, self.x, self.price = compiled, x, np.abs(row_dual)
        self.rows = cast("list[tuple[str, Any]]", compiled.rows.keys)
        self.columns = cast("list[tuple[str, Any]]", compiled.columns.keys)
        power = [(number, index) for number, (name, index) in enumerate(self.rows) if name == POWER]
        self.hall = {h: i for i, h in enumerate(sorted({index[0] for _, index in power}))}
        self.time = {t: i for i, t in enumerate(sorted({index[1] for _, index in power}))}
        self.left = np.full((len(self.hall), len(self.time)), np.inf)
        self.least_mw: dict[tuple[str, str], Floats] = {}
        for number, index in power:
            self._power_row(number, *index)
        for position, (name, index) in enumerate(self.columns):
            if name == RACKS:
                hall, accelerator, time = index
                mw = self.least_mw.get((hall, accelerator))
                if mw is not None and time in self.time:
                    self.left[self.hall[hall], self.time[time]] -= mw[self.time[time]] * max(0.0, x[position])

    def _power_row(self, number: int, hall: str, time: str) -> None:
        columns, values = self.row(number)
        place, now = self.hall[hall], self.time[time]
        left = self.compiled.row_upper[number]
        for column, value in zip(columns.tolist(), values.tolist(), strict=True):
            name, index = self.columns[column]
            if name not in (CAPPED, RACKS):  # with one cap there are racks alone
                left -= value * self.x[column]
                continue
            mw = self.least_mw.setdefault((hall, index[1]), np.full(len(self.time), np.inf))
            mw[now] = min(mw[now], value)
        self.left[place, now] = left

    def row(self, number: int) -> tuple[Ints, Floats]:
        """Columns and coefficients of a row."""
        matrix = self.compiled.by_rows
        part = slice(matrix.indptr[number], matrix.indptr[number + 1])
        return matrix.indices[part], matrix.data[part]

    @cached_property
    def surviving(self) -> dict[tuple[str, str], Floats]:
        """Share of racks of the first quarter that attrition leaves in each one, by hall and accelerator."""
        kept: dict[tuple[str, str], Floats] = {}
        for number, (name, index) in enumerate(self.rows):
            if name != LANDINGS or index[0] not in self.hall or index[2] not in self.time:
                continue
            hall, accelerator, time = index
            share = kept.setdefault((hall, accelerator), np.ones(len(self.time)))
            for column, value in zip(*self.row(number), strict=True):
                family, when = self.columns[column]
                if family == RACKS and when != index:  # those of the quarter before
                    share[self.time[time]] = -float(value)
        return {key: np.multiply.accumulate(share) for key, share in kept.items()}

    @cached_property
    def load(self) -> dict[int, tuple[int, Floats]]:
        """Hall and MW by quarter of one unit of each whole column, from its landing on."""
        found = {}
        for number, (name, index) in enumerate(self.rows):
            if name != LANDINGS or index[0] not in self.hall:
                continue
            hall, accelerator, time = index
            mw = self.least_mw.get((hall, accelerator))
            if mw is None or time not in self.time:
                continue
            left, lands = self.surviving[hall, accelerator], self.time[time]
            held = np.where(np.isinf(mw), 0.0, mw) * left / left[lands]
            held[:lands] = 0.0
            for column, value in zip(*self.row(number), strict=True):
                if self.compiled.integer[column]:
                    found[int(column)] = (self.hall[hall], -float(value) * held)
        return found

    @property
    def rivals(self) -> tuple[Ints, ...]:
        """Whole columns that draw on one hall, by hall."""
        of: dict[int, list[int]] = defaultdict(list)
        for column, (hall, _) in self.load.items():
            of[hall].append(column)
        return tuple(np.array(columns, dtype=np.int64) for _, columns in sorted(of.items()))

    @cached_property
    def value(self) -> dict[int, float]:
        """M USD per MW that one unit more would be worth if it could be had, by whole column."""
        total = dict.fromkeys(self.load, 0.0)
        for number, (name, _) in enumerate(self.rows):
            if name == SUPPLY:
                for column, value in zip(*self.row(number), strict=True):
                    if int(column) in total:
                        total[int(column)] += float(self.price[number] * value)
        return {c: worth / max(DUST, float(self.load[c][1].max())) for c, worth in total.items()}

    @cached_property
    def kept(self) -> dict[int, Floats]:
        """Part of each whole column's load that the relaxed plan still holds in each quarter."""
        gone: dict[int, Floats] = {}
        for number, (name, _) in enumerate(self.rows):
            if name != COHORT:
                continue
            columns, _ = self.row(number)
            leaves = [(self.columns[c], self.x[c]) for c in columns if self.columns[c][0] == LEAVE]
            total = sum(amount for _, amount in leaves)
            if total <= DUST:
                continue
            share = np.zeros(len(self.time))
            for (_, index), amount in leaves:
                if index[4] in self.time:
                    share[self.time[index[4]] :] += amount / total
            gone |= dict.fromkeys((int(c) for c in columns if self.compiled.integer[c]), share)
        return {c: mw * (1 - gone.get(c, 0.0)) for c, (_, mw) in self.load.items()}

    @cached_property
    def groups(self) -> list[_Group]:
        """Sums of whole columns with equal coefficients, earliest landing first."""
        sides: dict[tuple[int, ...], list[float]] = {}
        whole = self.compiled.integer
        for number, (name, _) in enumerate(self.rows):
            columns, values = self.row(number)
            own = whole[columns]
            if name in (LANDINGS, BURN_IN) or not own.any() or np.ptp(values[own]) > 0 or values[own][0] <= 0:
                continue
            low, high = self.compiled.row_lower[number], self.compiled.row_upper[number]
            others = columns[~own]
            free = self.compiled.col_lower[others] < self.compiled.col_upper[others]
            if free.any() and low > -np.inf:
                continue  # a link to what follows from the lots, no sum that they must reach
            rest, unit = float(values[~own] @ self.x[others]), float(values[own][0])
            known = sides.setdefault(tuple(columns[own].tolist()), [-np.inf, np.inf])
            known[0] = max(known[0], np.ceil((low - rest) / unit - DUST))
            known[1] = min(known[1], np.floor((high - rest) / unit + DUST))
        made = [_Group(columns, *known) for columns, known in sides.items()]
        return sorted(made, key=lambda group: (self.lands(group), group.columns))

    def lands(self, group: _Group) -> int:
        """Number of the quarter in which the first of its lots draws power."""
        loads = [self.load[c][1] for c in group.columns if c in self.load]
        return min((int(np.flatnonzero(mw)[0]) for mw in loads if mw.any()), default=len(self.time))


@dataclass
class _Rounding:
    """The relaxed plan's lots made whole, within the power of the halls as far as that goes."""

    compiled: Compiled
    x: Floats
    place: _Halls
    n: Floats = field(init=False)
    left: Floats = field(init=False)

    def __post_init__(self) -> None:
        low, high = self.compiled.col_lower, self.compiled.col_upper
        self.wanted = np.clip(self.x, low, high)
        whole = self.compiled.integer
        self.n = np.where(whole, np.maximum(np.floor(self.wanted + DUST), low), self.wanted)
        self.left = self.place.left.copy()
        for column, (hall, _) in self.place.load.items():
            self.left[hall] -= self._taken(column, 0)
        self.of: dict[int, list[_Group]] = defaultdict(list)
        for group in self.place.groups:
            for column in group.columns:
                self.of[column].append(group)

    def made(self) -> Floats:
        """The rounded values."""
        for group in self.place.groups:
            for _ in range(int(max(0.0, group.least - self._sum(group)))):
                free = [c for c in group.columns if self._may_grow(c)]
                if free:
                    self._add(
                        max(free, key=lambda c: (min(0.0, round(self._room(c), 6)), self._short(c), -c))
                    )
        for hall in [*range(len(self.left))] * 2:
            self._relieve(hall)
        self._fill()
        return self.n

    def _relieve(self, hall: int) -> None:
        """Drop lots that need not come, or move lots elsewhere, until the hall has power for the rest."""
        for _ in range(MOST_MOVES):
            over = self.left[hall] < -DUST
            if not over.any():
                return
            here = [
                c
                for c, (h, mw) in self.place.load.items()
                if h == hall and self._may_shrink(c) and mw[over].max() > 0
            ]
            spare = [c for c in here if all(self._sum(g) - 1 >= g.least for g in self.of[c])]
            if spare:
                self._add(min(spare, key=lambda c: (self.place.value[c], -self._after(c), c)), -1)
                continue
            if not self._move_on(here):
                return

    def _move_on(self, here: list[int]) -> bool:
        """Move one of these lots to another hall, and if need be one from there to a third."""
        before = self._lack()
        moves = [(self._lack_after(c, q), self._short(q), -c, -q) for c in here for q in self._others(c)]
        best = max(moves, default=None)
        if best is not None and best[0] > before + DUST:
            self._add(-int(best[2]), -1)
            self._add(-int(best[3]))
            return True
        for _, _, c, q in sorted(moves, reverse=True)[:MOST_CHAINS]:
            self._add(-int(c), -1)
            self._add(-int(q))
            hall = self.place.load[-int(q)][0]
            there = [k for k, (h, _) in self.place.load.items() if h == hall and self._may_shrink(k)]
            chains = [(self._lack_after(k, e), -k, -e) for k in there for e in self._others(k) if k != -q]
            chain = max(chains, default=None)
            if chain is not None and chain[0] > before + DUST:
                self._add(-int(chain[1]), -1)
                self._add(-int(chain[2]))
                return True
            self._add(-int(c))
            self._add(-int(q), -1)
        return False

    def _others(self, column: int) -> list[int]:
        own = {id(group) for group in self.of[column]}
        return [
            other
            for group in self.of[column]
            for other in group.columns
            if other != column and self._may_grow(other) and {id(g) for g in self.of[other]} == own
        ]

    def _fill(self) -> None:
        """Add lots that fit, so that accelerators come as the relaxed plan wanted over time."""
        owed: dict[object, float] = defaultdict(float)
        worth = {
            group: max((self.place.value.get(c, 0.0) for c in group.columns), default=0.0)
            for group in self.place.groups
        }
        for group in sorted(self.place.groups, key=lambda g: (self.place.lands(g), -worth[g])):
            name = self.place.columns[group.columns[0]]
            kind = (name[0], name[1][1])
            wanted = sum(self.wanted[c] for c in group.columns) + owed[kind]
            while min(np.floor(wanted + 1 - ONE_MORE_FROM), group.most) - self._sum(group) > 0.5:
                free = [c for c in group.columns if self._may_grow(c) and self._room(c) >= -DUST]
                if not free:
                    break
                self._add(max(free, key=lambda c: (self._short(c), -c)))
            owed[kind] = wanted - self._sum(group)

    def _sum(self, group: _Group) -> float:
        return float(sum(self.n[c] for c in group.columns))

    def _short(self, column: int) -> float:
        return float(self.wanted[column] - self.n[column])

    def _may_grow(self, column: int) -> bool:
        return column in self.place.load and bool(self.n[column] < self.compiled.col_upper[column] - 0.5)

    def _may_shrink(self, column: int) -> bool:
        return bool(self.n[column] > self.compiled.col_lower[column] + 0.5)

    def _room(self, column: int) -> float:
        """MW left in the tightest quarter after one more unit."""
        hall, mw = self.place.load[column]
        return float((self.left[hall] - self._change(column, 1)).min(where=mw > 0, initial=np.inf))

    def _after(self, column: int) -> float:
        """MW that the hall still lacks after one unit less (0 or negative)."""
        hall, _ = self.place.load[column]
        return float(np.minimum(0.0, self.left[hall] - self._change(column, -1)).sum())

    def _lack(self) -> float:
        return float(np.minimum(0.0, self.left).sum())

    def _lack_after(self, column: int, other: int) -> float:
        """MW that all halls lack after a unit went from one column to another."""
        h, k = self.place.load[column][0], self.place.load[other][0]
        trial = self.left[[h, k]].copy() if h != k else self.left[[h]].copy()
        trial[0] -= self._change(column, -1)
        trial[-1] -= self._change(other, 1)
        gone = float(np.minimum(0.0, self.left[sorted({h, k})]).sum())
        return self._lack() - gone + float(np.minimum(0.0, trial).sum())

    def _add(self, column: int, count: int = 1) -> None:
        self.left[self.place.load[column][0]] -= self._change(column, count)
        self.n[column] += count

    def _change(self, column: int, count: int) -> Floats:
        """MW by quarter that so many units more take."""
        return self._taken(column, count) - self._taken(column, 0)

    def _taken(self, column: int, count: int) -> Floats:
        """MW by quarter above the relaxed plan; what that plan retires early is not gained again."""
        more = self.n[column] + count - self.wanted[column]
        taken: Floats = more * (self.place.load[column][1] if more > 0 else self.place.kept[column])
        return taken
