"""What the documents say can be done: links lead somewhere, commands run, scripts run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_to_files_and_headings(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if re.match(r"(https?:|mailto:)", target):
            continue
        name, _, heading = target.partition("#")
        file = (page.parent / name) if name else page
        assert file.exists(), f"{page.name}: {target}"
        if heading and file.suffix == ".md":
            heads = re.findall(r"^#+\s+(.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in heads}
            assert heading in slugs, f"{page.name}: {target}"


def test_every_page_of_the_site_exists_and_is_reached():
    config = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    named = {file for entry in config["project"]["nav"] for file in entry.values()}
    assert all((DOCS / file).is_file() for file in named)
    assert {p.name for p in DOCS.glob("*.md")} == named


def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("zensical")
    shutil.copytree(DOCS, tmp_path / "docs")
    shutil.copy(ROOT / "zensical.toml", tmp_path)
    done = run([sys.executable, "-m", "zensical", "build", "--strict"], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "build" / "site" / "quickstart" / "index.html").is_file()


def commands(page):
    """Lines of the ``bash`` blocks of a page, in order."""
    blocks = re.findall(r"```bash\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.strip().splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("page", ["guide.md"])
def test_commands_of_a_page_run_as_written_in_a_new_folder(page, tmp_path):
    lines = commands(page)
    assert len(lines) >= 5
    for line in lines:
        verb, *words = line.split()
        assert verb == "fleetplan"
        done = run([sys.executable, "-m", "fleetplan", *words], tmp_path)
        assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


@pytest.mark.slow
@pytest.mark.parametrize("script", sorted((DOCS / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_scripts_run(script, tmp_path):
    done = run([sys.executable, str(script), str(tmp_path / "out")], tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip()


def run(command, folder):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "default"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )


def written(text):
    """Commands in code: lines of fenced blocks and code within sentences."""
    blocks = re.findall(r"```\w*\n(.*?)```", text, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    return [line.split()[1:] for line in (*lines, *inline) if re.match(r"fleetplan [a-z]", line)]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_verb_and_option_that_is_named_exists(page):
    from click import Context

    from fleetplan.cli import root

    context = Context(root)
    for verb, *words in written(page.read_text(encoding="utf-8")):
        command = root.get_command(context, verb)
        assert command is not None, f"{page.name}: fleetplan {verb}"
        options = {o for p in command.params for o in (*p.opts, *p.secondary_opts)} | {"--help", "-h"}
        unknown = [w for w in words if re.match(r"--?[a-z]", w) and w.split("=")[0] not in options]
        assert not unknown, f"{page.name}: fleetplan {verb} {unknown}"
