"""Find the same collective call on several ranks, to part transfer from waiting.

A collective ends on all ranks at about the same time, so the rank that came last runs it shortest:
its duration is the transfer, what the others take longer is waiting for it. That needs no common clock.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from fleetplan.trace.collectives import Call

_SAME_BYTES = frozenset({"all-reduce", "all-gather", "reduce-scatter", "broadcast"})


@dataclass(frozen=True)
class Matched:
    """A call with the shortest duration of the same call over the ranks on which it was found."""

    call: Call
    transfer_ns: int
    ranks_seen: int

    @property
    def waiting_ns(self) -> int:
        """Time beyond the fastest rank's."""
        return self.call.end - self.call.start - self.transfer_ns


def match_calls(ranks: Sequence[Sequence[Call]]) -> list[Matched]:
    """Match the n-th call of a kind and group in a step on one rank with the n-th on the others.

    Only where every traced rank made equally many such calls, with the same bytes where the kind asks
    for it; other calls stand alone, with their own duration as transfer.
    """
    together: dict[tuple[int, str, str, int], list[Call]] = defaultdict(list)
    counts: dict[tuple[int, str, str], list[int]] = defaultdict(list)
    for calls in ranks:
        seen: dict[tuple[int, str, str], int] = defaultdict(int)
        for call in calls:
            kind = (call.step, call.kind, call.group)
            together[*kind, seen[kind]].append(call)
            seen[kind] += 1
        for kind, number in seen.items():
            counts[kind].append(number)
    matched = []
    for (step, name, group, _), calls in together.items():
        even = counts[step, name, group]
        alike = len(even) == len(ranks) and len(set(even)) == 1 and _same(calls)
        shortest = min(call.end - call.start for call in calls)
        for call in calls:
            own = call.end - call.start
            matched.append(Matched(call, shortest if alike else own, len(calls) if alike else 1))
    return sorted(matched, key=lambda match: (match.call.rank, match.call.start, match.call.end))


def _same(calls: list[Call]) -> bool:
    return calls[0].kind not in _SAME_BYTES or len({call.bytes for call in calls}) == 1
