"""Sets of moments as sorted, disjoint half-open intervals of nanoseconds, and their measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fleetplan.trace.columns import Bool, Float, Int


@dataclass(frozen=True)
class Moments:
    """Disjoint intervals ``[start, end)`` by start, none of them empty or touching the next."""

    start: Int
    end: Int

    @property
    def total(self) -> int:
        """Length of all, ns."""
        return int((self.end - self.start).sum())

    def within(self, start: Int, end: Int) -> Float:
        """Length inside each window, ns; exact."""
        return self._before(end) - self._before(start)

    def _before(self, when: Int) -> Float:
        if not len(self.start):
            return np.zeros(len(when))
        passed = np.concatenate([[0], np.cumsum(self.end - self.start)])
        whole = np.searchsorted(self.start, when, side="right") - 1
        index = np.maximum(whole, 0)
        part = np.clip(when - self.start[index], 0, self.end[index] - self.start[index])
        return np.where(whole < 0, 0.0, (passed[index] + part).astype(np.float64))

    def __or__(self, other: Moments) -> Moments:
        """In either."""
        return union(np.concatenate([self.start, other.start]), np.concatenate([self.end, other.end]))

    def __and__(self, other: Moments) -> Moments:
        """In both."""
        return _combine(self, other, np.logical_and)

    def __sub__(self, other: Moments) -> Moments:
        """In this one only."""
        return _combine(self, other, lambda mine, others: mine & ~others)


def union(start: Int, end: Int) -> Moments:
    """Moments that any of the intervals covers; empty ones cover none."""
    rows = end > start
    order = np.argsort(start[rows], kind="stable")
    start, end = start[rows][order], end[rows][order]
    if not len(start):
        return Moments(start, end)
    reach = np.maximum.accumulate(end)
    first = np.concatenate([[True], start[1:] > reach[:-1]])
    last = np.concatenate([first[1:], [True]])
    return Moments(start[first], reach[last])


def _combine(one: Moments, two: Moments, rule: Callable[[Bool, Bool], Bool]) -> Moments:
    # by sort, not np.unique: its hash table takes a minute for the edges of a large trace
    edges = np.sort(np.concatenate([one.start, one.end, two.start, two.end]), kind="stable")
    if not len(edges):
        return one
    edges = edges[np.append(True, edges[1:] > edges[:-1])]
    rows = rule(_covers(one, edges[:-1]), _covers(two, edges[:-1]))
    return union(edges[:-1][rows], edges[1:][rows])


def _covers(moments: Moments, when: Int) -> Bool:
    if not len(moments.start):
        return np.zeros(len(when), dtype=np.bool_)
    index = np.searchsorted(moments.start, when, side="right") - 1
    covered: Bool = (index >= 0) & (moments.end[np.maximum(index, 0)] > when)
    return covered
