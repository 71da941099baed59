r"""Commit or wait: what to order now when several futures may come.

Orders are decided when they must be placed; landing, caps, retirement and assignment adapt to the
future. The plan for all futures minimises :math:`(1-λ)` mean cost :math:`+ λ` mean cost of the worst
tail (:mod:`.extensive`). Beside it:

* *value of the stochastic solution* VSS: what it costs to order for the middle case instead;
* *value of perfect information* EVPI: what it would be worth to know the future before ordering;
* *regret*: for each candidate of today's orders and each future, cost above the best for that future.

Every candidate's orders that are decided before the first reveal are held, the rest is optimised in
each future (Birge and Louveaux, Introduction to Stochastic Programming, 2011, sections 4.1 and 4.2,
https://doi.org/10.1007/978-1-4614-0237-4).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fleetplan.errors import InfeasibleError
from fleetplan.progress import Silent
from fleetplan.solving.status import Status
from fleetplan.studies.beside import solve_each
from fleetplan.studies.extensive import Extensive, Risk, extensive_form, tail_mean
from fleetplan.studies.futures import Ordering, Tree, agreed_orders, bundler, with_orders
from fleetplan.studies.run import changed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from fleetplan.plan.plan import Plan
    from fleetplan.progress import Progress
    from fleetplan.solving.arrays import Compiled, Floats
    from fleetplan.solving.result import Result
    from fleetplan.studies.workshop import Workshop

    Orders = Mapping[tuple[str, str], float]

STOCHASTIC, MIDDLE = "for all futures", "for the middle case"
NEVER = float("inf")
JOINED_COLUMNS = 150_000
"""Futures with more columns together are solved one by one: joined, their relaxation alone takes longer."""


@dataclass(frozen=True)
class Commitment:
    """What to order now, and what knowing more would be worth. Costs are M USD present value."""

    tree: Tree
    risk: Risk
    now: pd.DataFrame
    """accelerator, delivery, lots, racks: orders beyond commitments, to place before anything is known."""
    regrets: pd.DataFrame
    """candidate, future, cost_musd (infinite where it cannot be carried out), regret_musd."""
    costs: tuple[float, ...]
    """Cost of each future under the plan for all futures."""
    known: tuple[float, ...]
    """Cost of each future if it were known before ordering."""
    score: float
    bound: float
    middle_score: float
    """Score of ordering for the middle case; infinite where that fails in some future."""
    plans: Mapping[str, Plan]
    """The audited plan of each future under today's orders."""
    seconds: Mapping[str, float]

    @property
    def gap(self) -> float:
        """Proven distance of the score from the best possible, as a share."""
        return max(0.0, self.score - self.bound) / max(abs(self.score), 1e-12)

    @property
    def vss(self) -> float:
        """Value of the stochastic solution; infinite where orders for the middle case fail in a future."""
        return self.middle_score - self.score

    @property
    def evpi(self) -> float:
        """Expected value of perfect information, on the same score."""
        return self.score - _score(self.known, self.tree, self.risk)

    def frame(self) -> pd.DataFrame:
        """The regret table."""
        return self.regrets

    def lines(self) -> list[str]:
        """The answer in a few sentences."""
        orders = [f"{row.racks:,.0f} {row.accelerator} for {row.delivery}" for row in self.now.itertuples()]
        mean = (
            "Mean cost" if self.risk.weight == 0 else f"Mean and tail cost ({self.risk.weight:g} on the tail)"
        )
        vss = "has no plan in some future" if self.vss == NEVER else f"costs {self.vss:,.2f} M USD more (VSS)"
        return [
            f"Order now: {', '.join(orders) or 'nothing'}.",
            f"{mean} over {len(self.tree.futures)} futures: {self.score:,.1f} M USD, gap {self.gap:.3%}.",
            f"Ordering for the middle case {vss}.",
            f"Knowing the future before ordering would be worth {self.evpi:,.2f} M USD (EVPI).",
            *_regret_lines(self.regrets),
        ]


def commit(
    workshop: Workshop,
    tree: Tree,
    *,
    risk: Risk | None = None,
    regrets: bool = True,
    workers: int = 1,
    progress: Progress | None = None,
) -> Commitment:
    """Decide what to order now under the tree's futures, as one extensive form.

    Futures too large to be one model are solved one by one, ``workers`` of them at a time.
    The bound is the better of the search's own and of the mean of the futures' bounds when each is
    known (the Lagrangian bound at zero prices of non-anticipativity). Each future's plan is audited.
    Raises as a solve does where a future has no plan at all, ``UsageError`` for bad trees.
    """
    maker = _Maker(workshop, tree, risk or Risk(), progress or Silent(), workers)
    return maker.made(regrets=regrets)


class _Maker:
    def __init__(self, workshop: Workshop, tree: Tree, risk: Risk, progress: Progress, workers: int) -> None:
        self.workshop, self.tree, self.risk, self.progress = workshop.warmed(), tree, risk, progress
        self.workers = workers
        self.options = workshop.settings.solve_options()
        self.seconds: dict[str, float] = {}
        scenarios = [changed(workshop.base, one.case) for one in tree.futures]
        self.orderings = [with_orders(workshop.problem(scenario)) for scenario in scenarios]
        self.shares = [one.probability for one in tree.futures]
        self.tried: dict[tuple[int, tuple[object, ...]], Result] = {}

    @property
    def apart(self) -> bool:
        """Whether the futures are too large to be one model: then each is solved by itself."""
        size = sum(one.compiled.shape[1] for one in self.orderings)
        return size > JOINED_COLUMNS and len(self.tree.reveals) == 1

    def made(self, *, regrets: bool) -> Commitment:
        if self.apart:
            return self._made_apart()
        known = [self._known(i) for i in range(len(self.orderings))]
        joined, solution = self._joined()
        held = self._middle()
        middle = self._held_jointly(joined, held) if len(self.tree.reveals) > 1 else None
        if middle is not None and middle.has_plan and _objective(middle) < _objective(solution):
            solution = replace(middle, bound=solution.bound)
        assert solution.x is not None
        values = [joined.values_of(i, solution.x) for i in range(len(self.orderings))]
        candidates = {STOCHASTIC: self._early(values[0], 0), MIDDLE: held}
        costs = [self._cost(i, v) for i, v in enumerate(values)]
        table = {STOCHASTIC: costs, MIDDLE: self._follow(candidates[MIDDLE])}
        if regrets:
            for i, result in enumerate(known):
                assert result.x is not None
                name = f"for {self.tree.futures[i].case.name}"
                table.setdefault(name, self._follow(self._early(result.x, i)))
                candidates.setdefault(name, self._early(result.x, i))
        best = self._best(table)
        costs, early = table[best], candidates[best]
        least = [min(_objective(r), *(row[i] for row in table.values())) for i, r in enumerate(known)]
        bounds = [min(r.bound, _objective(r)) for r in known]
        score = _score(costs, self.tree, self.risk)
        bound = min(score, max(solution.bound, _score(bounds, self.tree, self.risk)))
        plans = self._plans(early, values if best == STOCHASTIC else None)
        middle_score = _score(table[MIDDLE], self.tree, self.risk)
        if middle is not None:
            middle_score = _objective(middle) if middle.has_plan else NEVER
        return Commitment(
            self.tree, self.risk, self._now(early), _regret_frame(table, least, self.tree), tuple(costs),
            tuple(least), score, bound, max(middle_score, score), plans, self.seconds,
        )  # fmt: skip

    def _made_apart(self) -> Commitment:
        """Early orders near the mean of what each future would order, held in all of them."""
        self._ahead("known", [(one, {}) for one in (*self.orderings, self.middle_ordering)])
        known = [self._known(i) for i in range(len(self.orderings))]
        early = [self._early(_values(result), i) for i, result in enumerate(known)]
        agreed = agreed_orders(self.orderings, self.shares, early)
        candidates = {STOCHASTIC: agreed, MIDDLE: self._middle()}
        self._ahead("candidates", [(one, orders) for orders in candidates.values() for one in self.orderings])
        table = {name: self._follow(orders) for name, orders in candidates.items()}
        best = self._best(table)
        costs = table[best]
        least = [min(_objective(r), *(row[i] for row in table.values())) for i, r in enumerate(known)]
        score = _score(costs, self.tree, self.risk)
        bound = min(score, _score([min(r.bound, _objective(r)) for r in known], self.tree, self.risk))
        plans = self._plans(candidates[best], None)
        return Commitment(
            self.tree, self.risk, self._now(candidates[best]), _regret_frame(table, least, self.tree),
            tuple(costs), tuple(least), score, bound,
            max(_score(table[MIDDLE], self.tree, self.risk), score), plans, self.seconds,
        )  # fmt: skip

    def _known(self, future: int) -> Result:
        """The best for one future if it were known; an impossible future is named."""
        try:
            return self._solve("known", self.orderings[future])
        except InfeasibleError as error:
            name = self.tree.futures[future].case.name
            raise InfeasibleError(f"future {name} has no plan even if it is known: {error}") from None

    def _best(self, table: Mapping[str, list[float]]) -> str:
        """The candidate of least score: within its gap the search may have missed a simpler one.

        Candidates of futures hold only what is decided before the first reveal; with later reveals
        their later orders may differ by future, so they are no solution of the whole tree.
        """
        names = list(table) if len(self.tree.reveals) == 1 else [STOCHASTIC]
        return min(names, key=lambda name: _score(table[name], self.tree, self.risk))

    def _held_jointly(self, joined: Extensive, orders: Orders) -> Result:
        """All futures with the early orders held and the later ones free within what is known by then."""
        ordering = self.orderings[0]
        places = {key: int(c) for key, c in zip(ordering.keys(), ordering.orders["column"], strict=True)}
        chosen = [(int(joined.columns_of[0][places[key]]), n) for key, n in orders.items() if key in places]
        held = joined.compiled.fixed([place for place, _ in chosen], [n for _, n in chosen])
        return self._run("middle", held, required=False)

    def _joined(self) -> tuple[Extensive, Result]:
        bundle = bundler(self.tree, self.orderings)
        joined = extensive_form([one.compiled for one in self.orderings], self.shares, bundle, self.risk)
        return joined, self._run("joined", joined.compiled)

    def _solve(self, name: str, ordering: Ordering, held: Orders | None = None) -> Result:
        result = self._try(name, ordering, held)
        from fleetplan.solving.result import require_plan

        return require_plan(result)

    def _try(self, name: str, ordering: Ordering, held: Orders | None) -> Result:
        key = _key(ordering, held)
        if key not in self.tried:
            self.tried[key] = self._run(name, _holding(ordering, held), required=False)
        return self.tried[key]

    def _ahead(self, name: str, asked: Sequence[tuple[Ordering, Orders]]) -> None:
        """Solve what will be asked for, side by side."""
        import time

        began = time.perf_counter()
        new = {_key(ordering, held): (ordering, held) for ordering, held in asked}
        new = {key: one for key, one in new.items() if key not in self.tried}
        models = [_holding(ordering, held) for ordering, held in new.values()]
        results = solve_each(models, self.options, self.workshop.start, self.workers)
        for done, (key, result) in enumerate(zip(new, results, strict=True), start=1):
            self.tried[key] = result
            self.progress.working(name, done, len(new), "")
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began

    def _run(self, name: str, compiled: Compiled, *, required: bool = True) -> Result:
        import time

        from fleetplan.planning.rounding import whole_lots
        from fleetplan.solving.recipe import solve
        from fleetplan.solving.result import require_plan

        began = time.perf_counter()
        result = solve(compiled, self.options, self.progress, start=self.workshop.start, rounder=whole_lots)
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began
        return require_plan(result) if required else result

    def _early(self, x: Floats, future: int) -> dict[tuple[str, str], float]:
        """Lots of the orders that are placed before the first reveal."""
        ordering = self.orderings[future]
        orders = ordering.orders
        early = orders["orderable"] & (orders["order"] < self.tree.reveals[0].ordinal)
        return {
            key: float(round(x[int(column)]))
            for key, column, now in zip(ordering.keys(), orders["column"], early, strict=True)
            if now
        }

    @cached_property
    def middle_ordering(self) -> Ordering:
        """The base case, which every draw is around."""
        return with_orders(self.workshop.problem(self.workshop.base))

    def _middle(self) -> dict[tuple[str, str], float]:
        ordering = self.middle_ordering
        result = self._solve("middle", ordering)
        assert result.x is not None
        orders = ordering.orders
        early = orders["orderable"] & (orders["order"] < self.tree.reveals[0].ordinal)
        lots = np.round(result.x[orders["column"].to_numpy(dtype=np.int64)]).tolist()
        return {key: n for key, n, now in zip(ordering.keys(), lots, early, strict=True) if now}

    def _follow(self, orders: Orders) -> list[float]:
        """Cost of each future with these orders held; infinite where they cannot be carried out."""
        costs = []
        for ordering in self.orderings:
            result = self._try("candidates", ordering, orders)
            impossible = result.status is Status.INFEASIBLE or not result.has_plan
            costs.append(NEVER if impossible else _objective(result))
        return costs

    def _cost(self, future: int, x: Floats) -> float:
        return self.orderings[future].compiled.objective(x)

    def _now(self, early: Orders) -> pd.DataFrame:
        import pandas as pd

        orders = self.orderings[0].orders
        known = {
            key: (float(lot), float(committed))
            for key, lot, committed in zip(
                self.orderings[0].keys(), orders["lot"], orders["committed"], strict=True
            )
        }
        rows = [
            (*key, lots - known[key][1], (lots - known[key][1]) * known[key][0])
            for key, lots in sorted(early.items())
            if key in known and lots > known[key][1]
        ]
        return pd.DataFrame(rows, columns=["accelerator", "delivery", "lots", "racks"])

    def _plans(self, early: Orders, values: Sequence[Floats] | None) -> dict[str, Plan]:
        """Each future's audited plan under today's orders."""
        from fleetplan.api import finish
        from fleetplan.studies.vectors import as_plan_result

        plans = {}
        for i, (one, ordering) in enumerate(zip(self.tree.futures, self.orderings, strict=True)):
            problem = ordering.problem
            if values is None:
                result = self._solve("plans", ordering, early)
            else:
                result = _as_result(ordering, values[i])
            plain = as_plan_result(problem.compiled, result)
            plans[one.case.name] = finish(problem, plain, self.workshop.settings)
        return plans


def _key(ordering: Ordering, held: Orders | None) -> tuple[int, tuple[object, ...]]:
    return id(ordering), tuple(sorted((held or {}).items()))


def _holding(ordering: Ordering, held: Orders | None) -> Compiled:
    """The future's model with these orders held."""
    if not held:
        return ordering.compiled
    places = {key: int(c) for key, c in zip(ordering.keys(), ordering.orders["column"], strict=True)}
    chosen = [(places[key], lots) for key, lots in held.items() if key in places]
    return ordering.compiled.fixed([place for place, _ in chosen], [lots for _, lots in chosen])


def _as_result(ordering: Ordering, x: Floats) -> Result:
    from fleetplan.solving.result import Result as Made

    return Made(Status.OPTIMAL, x, ordering.compiled.objective(x), -np.inf, "none")


def _values(result: Result) -> Floats:
    assert result.x is not None
    return result.x


def _objective(result: Result) -> float:
    assert result.objective is not None
    return result.objective


def _score(costs: Sequence[float], tree: Tree, risk: Risk) -> float:
    """(1 - weight) mean + weight x mean of the worst tail."""
    shares = [one.probability for one in tree.futures]
    mean = float(sum(p * c for p, c in zip(shares, costs, strict=True)))
    if risk.weight == 0 or mean == NEVER:
        return mean
    return (1 - risk.weight) * mean + risk.weight * tail_mean(costs, shares, risk.tail)


def _regret_frame(table: Mapping[str, list[float]], least: list[float], tree: Tree) -> pd.DataFrame:
    import pandas as pd

    rows = [
        (candidate, one.case.name, cost, max(0.0, cost - best))
        for candidate, costs in table.items()
        for one, cost, best in zip(tree.futures, costs, least, strict=True)
    ]
    return pd.DataFrame(rows, columns=["candidate", "future", "cost_musd", "regret_musd"])


def _regret_lines(regrets: pd.DataFrame) -> list[str]:
    worst = regrets.groupby("candidate", sort=False)["regret_musd"].max()
    name = str(worst.idxmin())
    if worst[name] == NEVER:
        return ["Every candidate fails in some future."]
    return [
        f"Least worst regret: orders {name}, at most {worst[name]:,.1f} M USD above the best in any future."
    ]
