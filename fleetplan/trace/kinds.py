"""What an event of a trace is: computing, communicating, copying or waiting; and which collective.

Category names are Kineto's (https://github.com/pytorch/kineto, ``ActivityType``); kernel names are
those of NCCL, RCCL, HCCL, cuBLAS, CUTLASS, Tensile, Triton and FBGEMM.
"""

from __future__ import annotations

import re
from enum import IntEnum


class Kind(IntEnum):
    """What a device event does."""

    COMPUTE = 0
    COMMUNICATION = 1
    COPY = 2
    WAIT = 3
    """A queue that waits for another one: no work (MTIA ``event_wait``)."""
    MARK = 4
    """Signals of no length that matters (MTIA ``event_record``)."""


COMPUTE_CATEGORIES = frozenset({"kernel", "Kernel", "mtia_ccp_events", "collective_comm", "hpu_op"})
COPY_CATEGORIES = frozenset({"gpu_memcpy", "gpu_memset", "Memcpy", "Memset"})
DEVICE_CATEGORIES = COMPUTE_CATEGORIES | COPY_CATEGORIES
LAUNCH_CATEGORIES = frozenset(
    {
        "cuda_runtime",
        "cuda_driver",
        "hip_runtime",
        "mtia_runtime",
        "xpu_runtime",
        "privateuse1_runtime",
        "privateuse1_driver",
        "runtime",
        "driver",
        "Runtime",
    }
)
ANNOTATION_CATEGORIES = frozenset({"user_annotation"})
OPERATOR_CATEGORIES = frozenset({"cpu_op", "Operator"})

_COMMUNICATION = re.compile(
    r"nccl|rccl|hccl|msccl|oneccl|ctran"
    r"|.*(cross_device_reduce|(one|two)_shot_all_reduce|multimem_all_|nvshmem)",
    re.IGNORECASE,
)
_COPY = re.compile(r"Memcpy|Memset|dma|Copy(Device|Host)|FillBuffer", re.IGNORECASE)
_WAITS = frozenset({"event_wait", "Stream Wait Event", "Stream Synchronize", "Context Sync"})
_MARKS = frozenset({"event_record"})


def device_kind(category: str, name: str) -> Kind:
    """Kind of a device event by its category and name."""
    if category in COPY_CATEGORIES:
        return Kind.COPY
    if category == "collective_comm" or _COMMUNICATION.match(name):
        return Kind.COMMUNICATION
    if name in _WAITS:
        return Kind.WAIT
    if name in _MARKS:
        return Kind.MARK
    return Kind.COPY if _COPY.match(name) else Kind.COMPUTE


COLLECTIVES = ("all-to-all", "all-reduce", "all-gather", "reduce-scatter")
_COLLECTIVE_WORDS = (
    ("alltoall", "all-to-all"),
    ("allreduce", "all-reduce"),
    ("allgather", "all-gather"),
    ("reducescatter", "reduce-scatter"),
    ("broadcast", "broadcast"),
    ("barrier", "barrier"),
    ("sendrecv", "send-receive"),
    ("send", "send-receive"),
    ("recv", "send-receive"),
    ("gather", "gather"),
    ("scatter", "scatter"),
    ("crossdevicereduce", "all-reduce"),
    ("reduce", "reduce"),
)
UNKNOWN_COLLECTIVE = "unknown"


def collective_kind(text: str) -> str:
    """Name of the collective in a kernel name, annotation or NCCL argument; ``unknown`` if none."""
    plain = text.lower().replace("_", "").replace("-", "").split("(")[0]
    for word, kind in _COLLECTIVE_WORDS:
        if word in plain:
            return kind
    return UNKNOWN_COLLECTIVE


_BYTES_BY_TYPE = {
    8: ("double", "long", "int64", "uint64", "float64", "longlong"),
    4: ("float", "int", "int32", "uint32", "float32"),
    2: ("half", "bfloat16", "float16", "short", "int16", "uint16"),
    1: ("byte", "char", "bool", "unsignedchar", "signedchar", "int8", "uint8"),
}
_BYTES = {name: size for size, names in _BYTES_BY_TYPE.items() for name in names}


def element_bytes(dtype: object) -> int | None:
    """Bytes of one element of a torch type as the profiler spells it; ``None`` if not known."""
    if not isinstance(dtype, str):
        return None
    plain = dtype.lower().removeprefix("c10::").replace(" ", "")
    return 1 if plain.startswith("float8") else _BYTES.get(plain)


FAMILIES = (
    "gemm",
    "embedding",
    "embedding backward",
    "attention",
    "attention backward",
    "elementwise",
)
"""Families of compute kernels; ``gemm`` has convolutions too, ``elementwise`` is all else."""
_EMBEDDING = re.compile(r"embedding|_tbe_|\btbe|batched_embed", re.IGNORECASE)
_ATTENTION = re.compile(r"flash|fmha|attention|attn|hstu", re.IGNORECASE)
_GEMM = re.compile(
    r"gemm|cutlass|xmma|cijk_|nvjet|wgmma|cublas|conv|wgrad|dgrad|fprop|matmul|_mm_", re.IGNORECASE
)
_BACKWARD = re.compile(r"backward|bwd|grad|adagrad|adam\b|sgd", re.IGNORECASE)


def kernel_family(name: str) -> str:
    """Family of a compute kernel by its name: one of ``FAMILIES``."""
    for family, words in (("embedding", _EMBEDDING), ("attention", _ATTENTION)):
        if words.search(name):
            return f"{family} backward" if _BACKWARD.search(name) else family
    return "gemm" if _GEMM.search(name) else "elementwise"
