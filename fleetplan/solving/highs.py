"""One HiGHS object with one model: options checked, the run watched, the best plan kept.

The run goes in a thread of its own while the caller's thread waits for it, so that Ctrl-C and the
clock are noticed at once. Both ask HiGHS to stop through its interrupt callback: other than its
own keyboard handling that keeps the plan found so far, and other than its own time limit it is
not an input of the search (HiGHS sizes some of its work by the limit), so that a run which ends
before the limit does not depend on it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import highspy
import numpy as np

from fleetplan.errors import SolverError
from fleetplan.solving.arrays import Compiled, Floats, Ints
from fleetplan.solving.options import OptionValue, set_option
from fleetplan.solving.status import Status, needs_report, status_of_highs

POLL_S = 0.1
HEARTBEAT_S = 1.0
USER_GRACE_S = 3.0
"""A person who stops a run waits no longer than this for HiGHS, which at the root of a search does not listen."""
FEASIBLE = 2
"""HiGHS' ``primal_solution_status`` of a feasible solution."""


@dataclass(frozen=True)
class Outcome:
    """What one run left. Arrays are empty where HiGHS gave none."""

    status: Status
    x: Floats | None
    """Feasible by HiGHS' own tolerances; ``None`` without a plan."""
    objective: float | None
    search_bound: float
    """HiGHS' bound of a search with integers; ``-inf`` for a linear run."""
    row_dual: Floats
    col_dual: Floats
    seconds: float
    stopped_by: str
    """``""``, ``"time"`` or ``"user"``."""
    note: str = ""
    iterations: int = 0


class _Watch:
    """Shared between the waiting thread and HiGHS' callbacks."""

    def __init__(
        self,
        time_limit_s: float | None,
        listener: Callable[[float, float], None] | None,
        enough: Callable[[float, float], bool] | None = None,
    ) -> None:
        self.began = time.perf_counter()
        self.deadline = np.inf if time_limit_s is None else self.began + time_limit_s
        self.listener = listener
        self.enough = enough
        self.stopped_by = ""
        self.best: tuple[float, Floats] | None = None
        self.stands: tuple[float, float] | None = None
        self.told: tuple[float, float] | None = None
        self.told_at = self.began

    def expired(self) -> bool:
        """Note the first reason to stop, and say whether there is one."""
        if not self.stopped_by and time.perf_counter() >= self.deadline:
            self.stopped_by = "time"
        return bool(self.stopped_by)

    def interrupt(self, event: Any) -> None:
        """Callback: stop if there is a reason; HiGHS remembers the answer of an earlier run."""
        event.interrupt(self.expired())

    def search_interrupt(self, event: Any) -> None:
        """Callback of a search: stop also if it has come far enough."""
        out = event.data_out
        if self.enough is not None and self.enough(float(out.mip_primal_bound), float(out.mip_dual_bound)):
            self.stopped_by = self.stopped_by or "enough"
        self.interrupt(event)

    def improved(self, event: Any) -> None:
        """Callback: keep the better plan in case HiGHS does not come back."""
        out = event.data_out
        self.best = (float(out.objective_function_value), np.array(out.mip_solution, dtype=float))
        self.noted(event)

    def noted(self, event: Any) -> None:
        """Callback: note where the search stands; the waiting thread passes it on."""
        self.stands = (float(event.data_out.mip_primal_bound), float(event.data_out.mip_dual_bound))

    def tell(self) -> None:
        """Pass news on, in the waiting thread: an error in a listener must not meet HiGHS' frames.

        Without news the last state is told again every second, so that a display can move.
        """
        news, now = self.stands, time.perf_counter()
        if self.listener is None or (news is self.told and now - self.told_at < HEARTBEAT_S):
            return
        self.told, self.told_at = news, now
        self.listener(*(news or (np.inf, -np.inf)))


class _Quiet(highspy.Highs):  # type: ignore[misc] # highspy has no types that can be inherited
    """HiGHS without its banner on the console, which setting up callbacks prints."""

    def enableCallbacks(self) -> None:  # noqa: N802 - HiGHS' own name
        """Silence first."""
        self.setOptionValue("output_flag", False)
        super().enableCallbacks()


class Session:
    """A model in HiGHS. Not for use from several threads at once."""

    _threads_in_process: ClassVar[int | None] = None

    def __init__(
        self,
        compiled: Compiled,
        options: Mapping[str, OptionValue] | None = None,
        *,
        threads: int = 1,
        seed: int = 0,
    ) -> None:
        """Hand the whole model over. ``options`` are HiGHS' own; each must be accepted."""
        self._use_threads(threads)
        self.highs = _Quiet()
        self._lost = False
        for name, value in {"threads": threads, "random_seed": seed, **(options or {})}.items():
            set_option(self.highs, name, value)
        self._has_integers = bool(compiled.integer.any())
        self._pass(compiled)

    @classmethod
    def _use_threads(cls, threads: int) -> None:
        """HiGHS keeps one set of threads in a process: another count needs a new one."""
        if cls._threads_in_process not in (None, threads):
            highspy.Highs.resetGlobalScheduler(True)
        cls._threads_in_process = threads

    def _pass(self, compiled: Compiled) -> None:
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = compiled.shape
        lp.col_cost_, lp.offset_ = compiled.cost, compiled.offset
        lp.col_lower_, lp.col_upper_ = compiled.col_lower, compiled.col_upper
        lp.row_lower_, lp.row_upper_ = compiled.row_lower, compiled.row_upper
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = compiled.start, compiled.index
        lp.a_matrix_.value_ = compiled.value
        lp.a_matrix_.num_row_, lp.a_matrix_.num_col_ = compiled.shape
        if self._has_integers:
            kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
            lp.integrality_ = [kinds[whole] for whole in compiled.integer.tolist()]
        self._accept(self.highs.passModel(lp), "the model")

    def _accept(self, status: highspy.HighsStatus, what: str) -> None:
        if status == highspy.HighsStatus.kError:
            raise SolverError(f"HiGHS {self.highs.version()} refused {what}")

    # -- changes --------------------------------------------------------------------------------

    def set(self, name: str, value: OptionValue) -> None:
        """Set one more option."""
        set_option(self.highs, name, value)

    def change_rows(self, positions: Ints, lower: Floats, upper: Floats) -> None:
        """Other sides on some rows."""
        places = positions.astype(np.int32)
        self._accept(self.highs.changeRowsBounds(len(places), places, lower, upper), "new row sides")

    def change_bounds(self, positions: Ints, lower: Floats, upper: Floats) -> None:
        """Other bounds on some columns."""
        places = positions.astype(np.int32)
        self._accept(self.highs.changeColsBounds(len(places), places, lower, upper), "new column bounds")

    def change_cost(self, positions: Ints, cost: Floats) -> None:
        """Other costs on some columns."""
        places = positions.astype(np.int32)
        self._accept(self.highs.changeColsCost(len(places), places, cost), "new costs")

    def change_offset(self, offset: float) -> None:
        """Another constant in the objective."""
        self._accept(self.highs.changeObjectiveOffset(offset), "a new constant cost")

    def start_from(self, positions: Ints, values: Floats) -> None:
        """Offer values of some columns (the integers) as a first plan of a search."""
        places = positions.astype(np.int32)
        self._accept(self.highs.setSolution(len(places), places, values), "the first plan")

    @property
    def basis(self) -> highspy.HighsBasis:
        """Where the last linear run ended."""
        basis: highspy.HighsBasis = self.highs.getBasis()
        return basis

    def use_basis(self, basis: highspy.HighsBasis) -> None:
        """Start the next linear run from a basis."""
        self._accept(self.highs.setBasis(basis), "the starting basis")

    # -- running --------------------------------------------------------------------------------

    def run(
        self,
        time_limit_s: float | None = None,
        listener: Callable[[float, float], None] | None = None,
        grace_s: float = 20.0,
        enough: Callable[[float, float], bool] | None = None,
    ) -> Outcome:
        """Solve. ``listener`` gets (best, HiGHS' bound); Ctrl-C ends the run with the best plan.

        ``enough`` gets the same, at each point where HiGHS can be stopped, and may end a search;
        it must be quick and depend on nothing else, so that runs repeat.

        A run that does not come back ``grace_s`` after it was told to stop (a few seconds after
        Ctrl-C) is left alone in its thread; the plan that its callbacks showed last is what remains.
        """
        if self._lost:
            raise SolverError("this HiGHS session did not come back from an earlier run")
        watch = _Watch(time_limit_s, listener, enough)
        self._subscribe(watch)
        try:
            came_back = self._watched(self.highs.run, watch, grace_s)
        finally:
            if not self._lost:
                self.highs.clearCallbacks()
        return self._outcome(watch) if came_back else _left_alone(watch, grace_s)

    def clash(self, time_limit_s: float, grace_s: float = 20.0) -> tuple[list[int], list[int]] | None:
        """Rows and columns of a set that cannot hold together; ``None`` where none was found in time."""
        found: list[Any] = []
        watch = _Watch(time_limit_s, None)
        self._subscribe(watch)
        self._watched(lambda: found.extend(self.highs.getIis()), watch, grace_s)
        if watch.stopped_by == "user":
            raise KeyboardInterrupt
        if self._lost or not found or found[0] == highspy.HighsStatus.kError or not found[1].valid_:
            return None
        rows, columns = (sorted(map(int, part)) for part in (found[1].row_index_, found[1].col_index_))
        return (rows, columns) if rows else None

    def _subscribe(self, watch: _Watch) -> None:
        self.highs.cbSimplexInterrupt += watch.interrupt
        self.highs.cbIpmInterrupt += watch.interrupt
        self.highs.cbMipInterrupt += watch.search_interrupt
        self.highs.cbMipImprovingSolution += watch.improved
        self.highs.cbMipLogging += watch.noted

    def _watched(self, work: Callable[[], Any], watch: _Watch, grace_s: float) -> bool:
        """Do the work in a thread of its own; whether it came back.

        A fresh thread also keeps HiGHS' per-thread scheduler apart from what other callers of
        HiGHS in this process have set up.
        """
        done = threading.Event()

        def in_thread() -> None:
            try:
                work()
            finally:
                done.set()

        threading.Thread(target=in_thread, daemon=True, name="highs").start()
        try:
            return self._wait(done, watch, grace_s)
        finally:
            if not done.is_set():
                watch.stopped_by = watch.stopped_by or "user"
                self._lost = not done.wait(0.0 if self._lost else min(grace_s, USER_GRACE_S))

    def _wait(self, done: threading.Event, watch: _Watch, grace_s: float) -> bool:
        """Whether HiGHS came back; notices the clock and Ctrl-C."""
        told_to_stop = np.inf
        while True:
            try:
                if done.wait(POLL_S):
                    return True
                watch.tell()
            except KeyboardInterrupt:
                watch.stopped_by = watch.stopped_by or "user"
            if watch.expired():
                told_to_stop = min(told_to_stop, time.perf_counter())
                patience = grace_s if watch.stopped_by == "time" else min(grace_s, USER_GRACE_S)
                if time.perf_counter() - told_to_stop > patience:
                    self._lost = True
                    return False

    def _outcome(self, watch: _Watch) -> Outcome:
        highs, info = self.highs, self.highs.getInfo()
        word = highs.getModelStatus().name
        solution = highs.getSolution()
        has_plan = bool(solution.value_valid and info.primal_solution_status == FEASIBLE)
        if word == "kModelEmpty":
            has_plan = True
        x = np.array(solution.col_value, dtype=float) if has_plan else None
        status = status_of_highs(word, has_plan)
        if watch.stopped_by in ("time", "enough") and status is Status.INTERRUPTED:
            status = Status.LIMIT if has_plan else Status.LIMIT_WITHOUT_PLAN
        note = (
            f"HiGHS ended with {word}, which is not known here; please report" if needs_report(word) else ""
        )
        return Outcome(
            status=status,
            x=x,
            objective=float(info.objective_function_value) if has_plan else None,
            search_bound=float(info.mip_dual_bound) if self._has_integers else -np.inf,
            row_dual=np.array(solution.row_dual, dtype=float),
            col_dual=np.array(solution.col_dual, dtype=float),
            seconds=time.perf_counter() - watch.began,
            stopped_by=watch.stopped_by if status in _STOPPED and watch.stopped_by != "enough" else "",
            note=note or (f"HiGHS ended with {word}" if status is Status.ERROR else ""),
            iterations=int(max(info.simplex_iteration_count, 0)),
        )


_STOPPED = (Status.LIMIT, Status.LIMIT_WITHOUT_PLAN, Status.INTERRUPTED)


def _left_alone(watch: _Watch, grace_s: float) -> Outcome:
    """What is known of a run that did not come back."""
    objective, x = watch.best if watch.best is not None else (None, None)
    without = Status.LIMIT if x is not None else Status.LIMIT_WITHOUT_PLAN
    empty = np.zeros(0)
    return Outcome(
        status=without if watch.stopped_by == "time" else Status.INTERRUPTED,
        x=x,
        objective=objective,
        search_bound=-np.inf,
        row_dual=empty,
        col_dual=empty,
        seconds=time.perf_counter() - watch.began,
        stopped_by=watch.stopped_by,
        note=f"HiGHS did not stop within {grace_s:g} s and was left alone",
    )
