"""``optimize`` killed or interrupted at random moments: a whole plan or none, and one line that says which.

``FLEETPLAN_KILLS`` sets how often each signal is sent.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleetplan.plan.audit import audit
from fleetplan.plan.store import MANIFEST, read_plan

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

KILLS = int(os.environ.get("FLEETPLAN_KILLS", "1"))
SEED = int(os.environ.get("FLEETPLAN_KILLS_SEED", "20261130"))
# A shell starts what runs in the background with SIGINT ignored: the child listens to it again.
LISTEN = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
CHILD = f"{LISTEN}; print('up', flush=True); from fleetplan.__main__ import run; run()"
PATIENCE_S = 300
PHASES = ("inputs", "steps", "model", "hand-off", "solve", "plan", "audit", "report")


def start(out: Path) -> subprocess.Popen[str]:
    """Start a plan; returns when Python runs, since before that no program can answer a signal."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, "optimize", "small-2026", "-o", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "up\n"
    return child


@pytest.fixture(scope="module")
def seconds(tmp_path_factory: pytest.TempPathFactory) -> float:
    """How long a plan takes from start to end on this machine, now."""
    began = time.perf_counter()
    child = start(tmp_path_factory.mktemp("whole") / "plan")
    child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 0
    return time.perf_counter() - began


def moments(rng: random.Random, seconds: float) -> Iterator[tuple[str, float]]:
    """From which event to wait, and how long: half the moments lie in the writing of the folder.

    A tenth lie around its last step, when everything is written and the folder gets its name.
    """
    for number in range(KILLS):
        if number % 10 == 9:
            yield "manifest", rng.uniform(0, 0.1)
        elif number % 2:
            yield "writing", rng.uniform(0, 0.4 * seconds)
        else:
            yield "start", rng.uniform(0, 1.05 * seconds)


def send(child: subprocess.Popen[str], what: signal.Signals, since: str, wait_s: float, out: Path) -> None:
    """Send the signal ``wait_s`` after the event, unless the child is done before."""
    while since != "start" and child.poll() is None and not has_begun(out, since):
        time.sleep(0.002)
    try:
        child.wait(wait_s)
    except subprocess.TimeoutExpired:
        child.send_signal(what)


def has_begun(out: Path, since: str) -> bool:
    """Whether the folder is begun, or its last file is."""
    partial = f".{out.name}.partial-*"
    return any(out.parent.glob(partial if since == "writing" else f"{partial}/{MANIFEST}"))


def phase_at_the_end(told: str, out: Path) -> str:
    """In which phase a run ended, by the phases that it told as done and by what lies in the folder."""
    if out.exists():
        return "named"
    done = [line.split()[0] for line in told.splitlines() if line.strip()]
    phase = next((name for name in PHASES if name not in done), "report")
    if phase != "report":
        return phase if done else "start to inputs"
    left = next(out.parent.glob(f".{out.name}.partial-*"), None)
    if left is None:
        return "report, no file yet"
    return "report, all written" if (left / MANIFEST).exists() else "report, some files"


def test_a_killed_run_leaves_no_torn_folder_and_the_next_run_cleans_up(
    tmp_path: Path, seconds: float
) -> None:
    counts: Counter[str] = Counter()
    where: Counter[str] = Counter()
    for number, (since, wait_s) in enumerate(moments(random.Random(SEED), seconds)):
        out = tmp_path / f"plan{number}"
        child = start(out)
        send(child, signal.SIGKILL, since, wait_s, out)
        _, told = child.communicate(timeout=PATIENCE_S)
        killed = child.returncode == -signal.SIGKILL
        where[phase_at_the_end(told, out) if killed else "done before"] += 1
        left = [path for path in tmp_path.iterdir() if path != out]
        if out.exists():
            assert read_plan(out, verify=True).audit.passed
            counts["whole"] += 1
            shutil.rmtree(out)
        else:
            counts["leftover" if left else "none"] += 1
    child = start(tmp_path / "last")
    child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["last"]
    print(f"SIGKILL: {KILLS} kills, {dict(counts)}, in {dict(where)}")  # noqa: T201 - the counts are asked for


def test_ctrl_c_leaves_an_audited_plan_or_says_that_there_is_none(tmp_path: Path, seconds: float) -> None:
    counts: Counter[str] = Counter()
    for number, (since, wait_s) in enumerate(moments(random.Random(SEED + 1), seconds)):
        near = tmp_path / str(number)
        near.mkdir()
        child = start(near / "plan")
        send(child, signal.SIGINT, since, wait_s, near / "plan")
        said, told = child.communicate(timeout=PATIENCE_S)
        counts[outcome(child.returncode, said, told, near / "plan")] += 1
    print(f"SIGINT: {KILLS} interrupts, {dict(counts)}")  # noqa: T201 - the counts are asked for


def outcome(code: int, said: str, told: str, out: Path) -> str:
    """Check one interrupted run and name how it ended."""
    if "Traceback" in told:
        assert f"{os.sep}fleetplan{os.sep}" not in told, told  # fleetplan had not begun
        assert not out.exists()
        return "before fleetplan"
    assert code in (0, 130), (code, told)
    assert not any(path.name.startswith(".plan.partial") for path in out.parent.iterdir())
    if out.exists():
        plan = read_plan(out, verify=True)
        assert audit(
            plan.tables, plan.scenario, plan.options, objective_musd=plan.manifest.objective_musd
        ).passed
        return f"plan, exit {code}"
    assert code == 130, (said, told)
    assert "before there was a result" in told or "before any plan was found" in told, told
    return "no plan, and said so"


SLOW = f"""
{LISTEN}
import os
from fleetplan.solving import recipe
whole = recipe._Run._keep
def keep_then_interrupt(self, outcome):
    whole(self, outcome)
    self.bound = float("-inf")
    os.kill(os.getpid(), signal.SIGINT)
recipe._Run._keep = keep_then_interrupt
from fleetplan.__main__ import run
run()
"""


def test_a_solve_that_is_interrupted_keeps_its_plan_says_so_and_exits_with_130(tmp_path: Path) -> None:
    child = subprocess.run(
        [sys.executable, "-c", SLOW, "optimize", "small-2026", "-o", str(tmp_path / "plan")],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert child.returncode == 130, child.stderr
    assert "Stopped early" in child.stderr
    assert "Traceback" not in child.stderr
    assert child.stderr.count("Stopped early") == 1
    plan = read_plan(tmp_path / "plan", verify=True)
    assert plan.audit.passed
    assert plan.manifest.status == "interrupted"
    assert not plan.manifest.reproducible
