"""Cases on Dask workers: on this machine or on any scheduler that answers.

Every worker gets the same workshop (base, settings, start), so that a case is the same wherever it
runs. A worker that is lost loses nothing: its cases go to others; results come home one by one and
are stored by the one process that asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fleetplan.errors import MissingExtraError, SolverError, UsageError
from fleetplan.studies.run import Ran, run_case

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fleetplan.studies.cases import Case
    from fleetplan.studies.workshop import Workshop

ATTEMPTS = 5
"""Rounds of sending what was lost once more before giving up."""
LOCAL = "local"


def run_on_cluster(workshop: Workshop, cases: Sequence[Case], address: str, workers: int) -> Iterator[Ran]:
    """Run the cases and yield each as it finishes, in any order.

    ``address`` is ``"local"`` or a scheduler's. Raises ``MissingExtraError`` without Dask,
    ``UsageError`` where no scheduler answers, ``SolverError`` where workers keep being lost.
    """
    try:
        import distributed
    except ImportError as cause:
        raise MissingExtraError("a sweep on a cluster", "cluster") from cause
    if address != LOCAL:
        with _connected(distributed, address) as client:
            yield from _all(distributed, client, workshop, cases)
        return
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield from _all(distributed, client, workshop, cases)


def _connected(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address, timeout="10s")
    except (OSError, ValueError, TimeoutError) as cause:
        message = f"no Dask scheduler answers at {address!r} ({cause}); write --cluster tcp://HOST:8786"
        raise UsageError(message) from cause


def _all(distributed: Any, client: Any, workshop: Workshop, cases: Sequence[Case]) -> Iterator[Ran]:
    left = {str(number): case for number, case in enumerate(cases)}
    for _ in range(ATTEMPTS):
        shared = client.scatter(workshop, broadcast=True, hash=False)
        futures = {client.submit(run_case, shared, case, pure=False): name for name, case in left.items()}
        for future in distributed.as_completed(list(futures)):
            if future.status != "finished":
                lost = future.exception() if future.status == "error" else None
                if lost is not None and not isinstance(lost, distributed.scheduler.KilledWorker):
                    raise lost
                continue
            ran: Ran = future.result()
            del left[futures[future]]
            future.release()
            yield ran
        if not left:
            return
    message = f"{len(left)} cases were lost with their workers {ATTEMPTS} times; is there enough memory?"
    raise SolverError(message)
