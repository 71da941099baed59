"""A long sweep on two Dask workers that is killed half way and goes on in one process, and the same with a lost worker.

python -m benchmarks.studies.monte_carlo public-2026 /tmp/mc --cases 200 --gap 0.01 --steps kill lose

Equal tables of both say that a case is the same in one process, on a worker, and where a worker died.
``plain`` is one process from start to end, ``cluster`` two workers from start to end.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import psutil  # type: ignore[import-untyped]

POLL_S = 0.2


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--gap", default="0.002")
    parser.add_argument("--workers", default="2")
    parser.add_argument("--steps", nargs="+", default=["kill", "cluster", "lose"])
    asked = parser.parse_args()
    for step in asked.steps:
        began = time.perf_counter()
        STEPS[step](asked, asked.folder / step)
        print(f"{step}: {time.perf_counter() - began:,.0f} s in all", flush=True)
        _told(asked.folder / step)
    tables = {step: (asked.folder / step / "results.csv").read_bytes() for step in asked.steps}
    same = len(set(tables.values())) == 1
    print(f"results.csv of {', '.join(tables)}: {'bit-identical' if same else 'DIFFERENT'}")


def _start(asked: argparse.Namespace, folder: Path, *more: str) -> subprocess.Popen[bytes]:
    what = ["sweep", asked.scenario, "--sample", str(asked.cases), "--monte-carlo", "--gap", asked.gap]
    command = [sys.executable, "-m", "fleetplan", *what, "-o", str(folder), "--quiet", *more]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)


def _finished(folder: Path) -> dict[str, int]:
    """When each whole case was written, by folder; half-written ones begin with a dot."""
    paths = folder.glob("cases/[!.]*/outcome.json")
    return {path.parent.name: path.stat().st_mtime_ns for path in paths}


def _wait_for(run: subprocess.Popen[bytes], folder: Path, count: int) -> None:
    while run.poll() is None and len(_finished(folder)) < count:
        time.sleep(POLL_S)


def _end(run: subprocess.Popen[bytes]) -> None:
    if run.wait() != 0:
        message = f"the sweep ended with exit code {run.returncode}"
        raise SystemExit(message)


def plain(asked: argparse.Namespace, folder: Path) -> None:
    """One process, from start to end."""
    _end(_start(asked, folder))


def killed(asked: argparse.Namespace, folder: Path) -> None:
    """Two Dask workers, all killed by SIGKILL when half is done, then the rest in one process."""
    began = time.perf_counter()
    run = _start(asked, folder, "--cluster", "--workers", asked.workers)
    _wait_for(run, folder, asked.cases // 2)
    _kill(run)
    before, seconds = _finished(folder), time.perf_counter() - began
    print(
        f"killed with {len(before)} cases finished in {seconds:,.0f} s on {asked.workers} workers", flush=True
    )
    _end(_start(asked, folder))
    after = _finished(folder)
    again = sum(after.get(name) != stamp for name, stamp in before.items())
    print(f"{again} of them computed twice or lost; {len(after)} in the end")
    _halves(folder, set(before))


def _kill(run: subprocess.Popen[bytes]) -> None:
    """SIGKILL to the sweep and to every process it started."""
    everyone = [*psutil.Process(run.pid).children(recursive=True), psutil.Process(run.pid)]
    for process in everyone:
        process.kill()
    run.wait()
    psutil.wait_procs(everyone)


def _halves(folder: Path, before: set[str]) -> None:
    times, results = pd.read_csv(folder / "times.csv"), pd.read_csv(folder / "results.csv")
    first = results["folder"].map(lambda name: Path(name).name).isin(before)
    for words, chosen in (("on two workers", first), ("in one process", ~first)):
        part = times[times["case"].isin(results.loc[chosen, "case"])]
        seconds, cpu_s = part["seconds"].median(), part["cpu_s"].median()
        print(f"  {len(part)} cases {words}: median {seconds:.2f} s ({cpu_s:.2f} processor seconds) each")


def cluster(asked: argparse.Namespace, folder: Path) -> None:
    """Two Dask workers on this machine."""
    _end(_start(asked, folder, "--cluster", "--workers", asked.workers))


def lose(asked: argparse.Namespace, folder: Path) -> None:
    """The same, with the busiest worker process killed when a third is done."""
    run = _start(asked, folder, "--cluster", "--workers", asked.workers)
    _wait_for(run, folder, asked.cases // 3)
    workers = psutil.Process(run.pid).children(recursive=True)
    victim = max(workers, key=lambda process: sum(process.cpu_times()[:2]))
    print(f"killed worker process {victim.pid} with {len(_finished(folder))} cases finished")
    victim.kill()
    _end(run)


def _told(folder: Path) -> None:
    times, results = pd.read_csv(folder / "times.csv"), pd.read_csv(folder / "results.csv")
    words = results["status"].value_counts().to_dict()
    print(f"  {len(results)} cases: {words}; largest gap {results['gap'].max():.3%}")
    seconds, cpu_s = times["seconds"], times["cpu_s"]
    print(f"  per case: median {seconds.median():.2f} s ({cpu_s.median():.2f} processor seconds), ", end="")
    print(f"mean {seconds.mean():.2f} s, longest {seconds.max():.2f} s")
    phases = times.drop(columns=["case", "seconds", "cpu_s"]).median().sort_values(ascending=False)
    print(
        "  median s by phase: " + ", ".join(f"{name} {value:.2f}" for name, value in phases.items()),
        flush=True,
    )


STEPS = {"plain": plain, "kill": killed, "cluster": cluster, "lose": lose}

if __name__ == "__main__":
    main()
