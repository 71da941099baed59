"""Cutting a trace into events: the same events at any chunk size, one clear error for a broken file."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trace_writer import TraceWriter, write_raw

from fleetplan.errors import InputError
from fleetplan.trace import stream as stream_module
from fleetplan.trace.read import read_traces
from fleetplan.trace.stream import TraceStream

AWKWARD = ['a"b', "}, {", '"traceEvents": [', "\\", "]}", "{[", "é\u2028", '\\\\"}, {"', ""]
names = st.lists(st.sampled_from(AWKWARD) | st.text(max_size=8), max_size=12)


def valid() -> bytes:
    """A small good trace."""
    writer = TraceWriter()
    writer.kernel("gemm", 0, 100, launched=0)
    writer.kernel("gemm", 200, 100, launched=150)
    return json.dumps(writer.document()).encode()


def read(file: Path, chunk: int = 4096) -> tuple[list[str], dict[str, object]]:
    source = TraceStream(file, chunk)
    found = [event.name for batch in source for event in batch]
    return found, source.metadata


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(names, st.integers(1, 200), st.booleans(), st.sampled_from([None, 1]))
def test_events_do_not_depend_on_chunks(
    tmp_path: Path, wanted: list[str], chunk: int, bare: bool, indent: int | None
) -> None:
    """Awkward names, nested arguments, metadata on both sides, every chunk size from 1 byte."""
    events = [{"ph": "X", "name": name, "args": {"list": [{"a": 1}, {"b": 2}]}} for name in wanted]
    document = {"traceName": "x", "device": {"traceEvents": [1]}, "traceEvents": events, "after": {"n": [1]}}
    file = tmp_path / "t.json"
    file.write_text(json.dumps(events if bare else document, indent=indent), encoding="utf-8")
    found, metadata = read(file, chunk)
    assert found == wanted
    assert metadata == (
        {} if bare else {"traceName": "x", "device": {"traceEvents": [1]}, "after": {"n": [1]}}
    )


def test_infinite_numbers_that_kineto_writes_are_read(tmp_path: Path) -> None:
    """``inf`` and ``nan`` are no JSON, but the profiler has written them."""
    text = b'{"traceEvents": [{"ph": "X", "name": "a: nan,", "args": {"x": inf, "y": -nan}}], "z": inf}'
    assert read(write_raw(tmp_path / "t.json", text)) == (["a: nan,"], {"z": None})


BROKEN: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda _: b"", "E952"),
    "blank": (lambda _: b"  \n", "E952"),
    "no json": (lambda _: b"\x7fELF....", "E952"),
    "another document": (lambda _: b'{"a": 1}', "E952"),
    "cut in an event": (lambda good: good[: len(good) // 2], "E953"),
    "cut between events": (lambda good: good[: good.rindex(b", {")], "E953"),
    "cut at the end": (lambda good: good[:-1], "E953"),
    "gzip cut": (lambda good: gzip.compress(good * 50)[:100], "E953"),
    "gzip broken": (lambda good: gzip.compress(good)[:20] + b"\0" * 40, "E953"),
    "missing comma": (lambda good: good.replace(b"}, {", b"} {"), "E954"),
    "text as duration": (lambda good: good.replace(b'"dur": 100', b'"dur": "long"'), "E954"),
    "events are numbers": (lambda _: b'{"traceEvents": [1, 2]}', "E954"),
    "two lists of events": (lambda good: good[:-1] + b', "traceEvents": [{}]}', "E954"),
    "text after the end": (lambda good: good + b" x", "E954"),
    "deep nesting": (
        lambda _: b'{"traceEvents": [{"args": ' + b"[" * 200_000 + b"]" * 200_000 + b"}]}",
        "E954",
    ),
    "deep metadata": (
        lambda _: b'{"m": ' + b"[" * 200_000 + b"]" * 200_000 + b', "traceEvents": []}',
        "E952",
    ),
    "invalid utf-8": (lambda good: good.replace(b"gemm", b"\xff\xfe"), "E954"),
    "negative duration": (lambda good: good.replace(b'"dur": 100', b'"dur": -100'), "E956"),
    "no duration": (lambda good: good.replace(b', "dur": 100', b""), "E956"),
    "time beyond 64 bits": (lambda good: good.replace(b'"dur": 100', b'"dur": 1e300'), "E956"),
    "nothing on a device": (lambda good: good.replace(b'"kernel"', b'"cpu_op"'), "E957"),
    "no events": (lambda _: b'{"traceEvents": []}', "E957"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_one_clear_error(tmp_path: Path, case: str) -> None:
    """One fault that names the file and its rule; exit code 3."""
    spoil, rule = BROKEN[case]
    file = write_raw(tmp_path / "broken.json", spoil(valid()))
    with pytest.raises(InputError) as caught:
        read_traces([file])
    assert caught.value.exit_code == 3
    assert [(fault.file, fault.rule) for fault in caught.value.faults] == [(str(file), rule)]
    assert len(str(caught.value)) < 600


def test_a_missing_file_and_a_folder_are_reported_together(tmp_path: Path) -> None:
    """All faults in one pass."""
    with pytest.raises(InputError) as caught:
        read_traces([tmp_path / "none.json", tmp_path])
    assert [fault.rule for fault in caught.value.faults] == ["E951", "E951"]


def test_an_endless_event_stops_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A string without end must not fill the memory: the limit is one event of 64 MiB."""
    monkeypatch.setattr(stream_module, "MAX_PIECE_BYTES", 1 << 20)
    for text in (b'{"traceEvents": [{"name": "', b'{"x": "', b'{"traceEvents": [], "x": "'):
        file = write_raw(tmp_path / "t.json", text + b"a" * (8 << 20) + b'"}]}')
        with pytest.raises(InputError) as caught:
            list(TraceStream(file, 1 << 16))
        assert caught.value.faults[0].rule == "E955"


def test_a_gzip_bomb_is_refused_in_little_memory(tmp_path: Path) -> None:
    """400 MB of one string in 2 MB of gzip: refused in under 1 GB."""
    file = tmp_path / "bomb.json.gz"
    with gzip.open(file, "wb", compresslevel=1) as out:
        out.write(b'{"traceEvents": [{"name": "')
        for _ in range(50):
            out.write(b"a" * (8 << 20))
    code = (
        "import sys, resource\n"
        "from fleetplan.errors import InputError\n"
        "from fleetplan.trace.read import read_traces\n"
        "try:\n    read_traces([sys.argv[1]])\n"
        "except InputError as error:\n    print(error.faults[0].rule)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    rule, kilobytes = answer.stdout.split()
    assert rule == "E955"
    assert int(kilobytes) < 1_000_000
