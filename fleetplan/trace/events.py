"""One event of a PyTorch profiler trace, with only the fields that fleetplan uses.

The format is the Chrome trace event format as Kineto writes it: ``ts`` and ``dur`` are microseconds
(with three decimals where the profiler counts nanoseconds), ``displayTimeUnit`` only says how a
viewer shows them. https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from __future__ import annotations

from typing import Any

import msgspec


class Args(msgspec.Struct, gc=False):
    """Arguments of an event. Writers differ in types, so values are checked where they are used."""

    correlation: Any = None
    stream: Any = None
    device: Any = None
    bytes: Any = None
    size: Any = None
    collective: Any = msgspec.field(default=None, name="Collective name")
    in_elements: Any = msgspec.field(default=None, name="In msg nelems")
    out_elements: Any = msgspec.field(default=None, name="Out msg nelems")
    group_size: Any = msgspec.field(default=None, name="Group size")
    group: Any = msgspec.field(default=None, name="Process Group Name")
    dtype: Any = None
    dims: Any = msgspec.field(default=None, name="Input Dims")
    types: Any = msgspec.field(default=None, name="Input type")
    index: Any = msgspec.field(default=None, name="Ev Idx")


class Event(msgspec.Struct, gc=False):
    """One entry of ``traceEvents``."""

    ph: str = ""
    name: str = ""
    cat: str = ""
    ts: float | None = None
    dur: float | None = None
    pid: int | str | None = None
    tid: int | str | None = None
    args: Args | None = None


decode_events = msgspec.json.Decoder(list[Event]).decode
decode_any = msgspec.json.Decoder().decode
DecodeError = msgspec.DecodeError
ValidationError = msgspec.ValidationError
