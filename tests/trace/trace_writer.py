"""Writes small profiler traces, in Kineto's format, whose answers are known by hand.

Times are given in microseconds. Nothing here uses the code under test.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HOST = 100
MAIN_THREAD = 100


@dataclass
class TraceWriter:
    """One rank. ``family`` is ``nvidia``, ``amd`` or ``mtia``; ``base_us`` is added to all times."""

    rank: int | None = 0
    world_size: int | None = 2
    family: str = "nvidia"
    base_us: float = 1_000_000.0
    device: int = 0
    events: list[dict[str, Any]] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    _correlation: int = 0

    def kernel(
        self,
        name: str,
        start: float,
        length: float,
        *,
        stream: int = 7,
        launched: float | None = None,
        thread: int = MAIN_THREAD,
        **args: object,
    ) -> None:
        """A kernel, with its launch call where ``launched`` says when that began."""
        category = "mtia_ccp_events" if self.family == "mtia" else "kernel"
        self._on_device(category, name, start, length, stream, launched, thread, args)

    def copy(
        self, name: str, start: float, length: float, *, stream: int = 20, launched: float | None = None
    ) -> None:
        """A copy between host and device, or on the device."""
        category = "mtia_ccp_events" if self.family == "mtia" else "gpu_memcpy"
        self._on_device(category, name, start, length, stream, launched, MAIN_THREAD, {"bytes": 4096})

    def annotation(
        self, name: str, start: float, length: float, *, thread: int = MAIN_THREAD, **args: object
    ) -> None:
        """A user annotation on the host."""
        self._event("user_annotation", name, start, length, HOST, thread, args)

    def operator(
        self, name: str, start: float, length: float, *, thread: int = MAIN_THREAD, **args: object
    ) -> None:
        """An operator on the host."""
        self._event("cpu_op", name, start, length, HOST, thread, args)

    def step(self, number: int, start: float, length: float) -> None:
        """The profiler's own step annotation."""
        self.annotation(f"ProfilerStep#{number}", start, length)

    def document(self) -> dict[str, Any]:
        """The trace as JSON data; the events stand between the metadata, as Kineto writes them."""
        head: dict[str, Any] = {"schemaVersion": 1}
        if self.world_size is not None:
            head["distributedInfo"] = {"backend": "nccl", "world_size": self.world_size}
            if self.rank is not None:
                head["distributedInfo"]["rank"] = self.rank
        return {**head, "traceEvents": self.events, **self.metadata}

    def write(self, file: Path) -> Path:
        """Write the file, gzipped where its name ends so."""
        text = json.dumps(self.document()).encode()
        file.write_bytes(gzip.compress(text) if file.suffix == ".gz" else text)
        return file

    def _on_device(
        self,
        category: str,
        name: str,
        start: float,
        length: float,
        stream: int,
        launched: float | None,
        thread: int,
        args: Mapping[str, object],
    ) -> None:
        self._correlation += 1
        facts = {"stream": stream, "device": self.device, **args}
        if launched is not None:
            runtime, call = {
                "nvidia": ("cuda_runtime", "cudaLaunchKernel"),
                "amd": ("cuda_runtime", "hipLaunchKernel"),
                "mtia": ("mtia_runtime", "runFunction - job_prep_and_submit_for_execution"),
            }[self.family]
            facts["correlation"] = self._correlation
            self._event(runtime, call, launched, 1.0, HOST, thread, {"correlation": self._correlation})
        self._event(category, name, start, length, self.device, stream, facts)

    def _event(
        self,
        category: str,
        name: str,
        start: float,
        length: float,
        pid: int,
        tid: int,
        args: Mapping[str, object],
    ) -> None:
        at = {"ts": self.base_us + start, "dur": length, "pid": pid, "tid": tid}
        self.events.append({"ph": "X", "cat": category, "name": name, **at, "args": dict(args)})


def write_raw(file: Path, content: bytes) -> Path:
    """Write bytes as they are."""
    file.write_bytes(content)
    return file


def nccl_arguments(collective: str, elements: Sequence[int], dtype: str, group: int) -> dict[str, object]:
    """Arguments that PyTorch puts on NCCL kernels: element counts in and out, type, group size."""
    return {
        "Collective name": collective,
        "In msg nelems": elements[0],
        "Out msg nelems": elements[1],
        "dtype": dtype,
        "Group size": group,
        "Process Group Name": "0",
    }
