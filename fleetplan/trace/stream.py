"""Cut a JSON trace, plain or gzipped, into batches of whole events without holding the file.

The cut is guessed (the last ``}, {`` of a chunk) and proved by decoding: a prefix of a JSON array
that decodes as a list of whole elements ends at an element of that array. Where the guess fails, an
exact scan finds the end of the last whole event. So each byte is decoded once, by msgspec; see
``benchmarks/trace/parsers.py`` for the parsers this was measured against.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from fleetplan.errors import InputError
from fleetplan.trace.events import DecodeError, Event, ValidationError, decode_any, decode_events

CHUNK_BYTES = 4 << 20
MAX_PIECE_BYTES = 64 << 20
"""Largest single event, and largest metadata before or after the events."""

_SEAM = re.compile(rb"\}\s*,\s*\{")
_SEAM_WINDOW = 1 << 16
_ARRAY = re.compile(rb'"traceEvents"\s*:\s*\[')
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TOKEN = re.compile(_STRING + rb'|[\[\]{}"]', re.DOTALL)
_NOT_JSON_NUMBER = re.compile(
    rb"(" + _STRING + rb")|(:\s*)-?(?:inf|nan)(?=\s*[,}\]])", re.IGNORECASE | re.DOTALL
)
_WHERE = re.compile(r"byte (\d+)")


class TraceStream:
    """Iterate over batches of events of one file; ``metadata`` is whole once the last is out.

    Raises :class:`InputError` where the file cannot be read, is not a trace, is cut off, holds an
    event of the wrong form, or an event or metadata beyond ``MAX_PIECE_BYTES``.
    """

    def __init__(self, file: Path, chunk_bytes: int = CHUNK_BYTES) -> None:
        """Name the file; it is opened when the iteration starts."""
        self.file = file
        self.metadata: dict[str, object] = {}
        self._chunk_bytes = chunk_bytes
        self._bare_array = False
        self._passed = 0

    def __iter__(self) -> Iterator[list[Event]]:
        """Read the file from its start."""
        try:
            with _open(self.file) as source:
                yield from self._batches(source)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self._cut_off("its gzip stream is broken or ends early") from error
        except OSError as error:
            message = f"cannot be read: {error.strerror or error}"
            raise InputError.at(self.file, "E951", message, "name a readable trace file") from error

    def _batches(self, source: IO[bytes]) -> Iterator[list[Event]]:
        buffer = self._read_head(source)
        closed = False
        ended = False
        while not closed:
            batch, used, closed = self._take(buffer)
            if batch:
                yield batch
            self._passed += used
            buffer = buffer[used:]
            if closed:
                break
            if ended:
                raise self._cut_off("the list of events is not closed")
            if len(buffer) > MAX_PIECE_BYTES:
                raise self._too_large("one event")
            more = source.read(max(self._chunk_bytes, len(buffer)))
            ended = not more
            buffer += more
        self._read_tail(buffer, source)

    def _read_head(self, source: IO[bytes]) -> bytes:
        """Read up to the first event; returns what follows the opening bracket."""
        buffer = source.read(self._chunk_bytes).removeprefix(b"\xef\xbb\xbf").lstrip()
        if buffer[:1] == b"[":
            self._bare_array = True
            return buffer[1:]
        if buffer[:1] != b"{":
            raise self._no_trace("it is empty" if not buffer else "it does not start as JSON")
        searched = 0
        while True:
            found = self._opened(buffer, searched)
            if found:
                self._passed = found
                return buffer[found:]
            if len(buffer) > MAX_PIECE_BYTES:
                raise self._too_large("the metadata before traceEvents")
            searched = max(0, len(buffer) - 64)
            more = source.read(max(self._chunk_bytes, len(buffer)))
            if not more:
                raise self._no_trace("it has no list traceEvents, or is cut off before it")
            buffer += more

    def _opened(self, buffer: bytes, start: int) -> int:
        """Where the first event begins, or 0: the key must stand at the top level."""
        for match in _ARRAY.finditer(buffer, start):
            try:
                head = decode_any(_plain_numbers(buffer[: match.end()] + b"]}"))
            except (DecodeError, RecursionError, UnicodeDecodeError):
                continue
            if head.get("traceEvents") == []:
                self.metadata.update(head)
                return match.end()
        return 0

    def _take(self, buffer: bytes) -> tuple[list[Event], int, bool]:
        """Decode the whole events at the start: (events, bytes used, whether the list closed)."""
        guess = _last_seam(buffer)
        if guess:
            batch = self._decode(buffer[:guess], guessed=True)
            if batch is not None:
                return batch, _after_comma(buffer, guess), False
        end, close = _exact_cut(buffer)
        if close is not None:
            return self._decode(buffer[:close]) or [], close + 1, True
        if not end:
            return [], 0, False
        after = _after_comma(buffer, end)
        # without its comma the event may still be followed by anything: wait for the next chunk
        return (self._decode(buffer[:end]) or [], after, False) if after > end else ([], 0, False)

    def _decode(self, piece: bytes, *, guessed: bool = False) -> list[Event] | None:
        try:
            return decode_events(b"[" + piece + b"]")
        except ValidationError as error:
            raise self._malformed(error) from error
        except RecursionError as error:
            raise self._malformed("it is nested too deep") from error
        except (DecodeError, UnicodeDecodeError) as error:
            if guessed:
                return None
            repaired = _plain_numbers(piece)
            if repaired == piece:
                raise self._malformed(error) from error
        return self._decode(repaired)

    def _read_tail(self, buffer: bytes, source: IO[bytes]) -> None:
        while more := source.read(self._chunk_bytes):
            buffer += more
            if len(buffer) > MAX_PIECE_BYTES:
                raise self._too_large("the metadata after traceEvents")
        if self._bare_array:
            if buffer.strip():
                raise self._malformed("text follows the list of events")
            return
        try:
            tail = decode_any(_plain_numbers(b'{"traceEvents":[]' + buffer))
        except (DecodeError, RecursionError, UnicodeDecodeError) as error:
            if "truncated" in str(error):
                raise self._cut_off("it ends within the metadata after traceEvents") from error
            raise self._malformed(error) from error
        if tail.pop("traceEvents") != []:
            raise self._malformed("traceEvents is given twice")
        self.metadata.update(tail)
        self.metadata.pop("traceEvents", None)

    def _no_trace(self, why: str) -> InputError:
        fix = "give a trace of the PyTorch profiler: JSON, plain or gzipped"
        return InputError.at(self.file, "E952", f"is no profiler trace: {why}", fix)

    def _cut_off(self, why: str) -> InputError:
        return InputError.at(self.file, "E953", f"is cut off: {why}", "copy the whole file again")

    def _malformed(self, why: object) -> InputError:
        text = str(why)[:200]
        at = _WHERE.search(text)
        place = f" near byte {self._passed + max(int(at.group(1)) - 1, 0)}" if at else ""
        return InputError.at(self.file, "E954", f"holds a malformed event{place}: {text}", "write it again")

    def _too_large(self, what: str) -> InputError:
        message = f"{what} is larger than {MAX_PIECE_BYTES >> 20} MiB"
        return InputError.at(self.file, "E955", message, "record fewer arguments per event")


def _open(file: Path) -> IO[bytes]:
    with file.open("rb") as raw:
        zipped = raw.read(2) == b"\x1f\x8b"
    return cast("IO[bytes]", gzip.open(file, "rb")) if zipped else file.open("rb")


def _last_seam(buffer: bytes) -> int:
    """End of the last object that another one follows, as far as the text shows; 0 if none."""
    seams = [seam.start() for seam in _SEAM.finditer(buffer, max(0, len(buffer) - _SEAM_WINDOW))]
    return seams[-1] + 1 if seams else 0


def _after_comma(buffer: bytes, end: int) -> int:
    rest = buffer[end : end + 4096]
    stripped = rest.lstrip()
    return end + len(rest) - len(stripped) + 1 if stripped[:1] == b"," else end


def _exact_cut(buffer: bytes) -> tuple[int, int | None]:
    """End of the last whole event, and where the list closes, by counting brackets."""
    depth, end = 0, 0
    for token in _TOKEN.finditer(buffer):
        mark = token.group()
        if mark in b"{[":
            depth += 1
        elif mark in b"}]":
            if not depth:
                return end, token.start()
            depth -= 1
            end = end if depth else token.end()
        elif mark == b'"':  # a string that this chunk does not close
            break
    return end, None


def _plain_numbers(piece: bytes) -> bytes:
    """Kineto has written ``inf`` and ``nan``, which are no JSON; they become ``null``."""
    return _NOT_JSON_NUMBER.sub(lambda found: found[1] or found[2] + b"null", piece)
