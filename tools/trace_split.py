#!/usr/bin/env python3
"""Splits a telemetry stream (docs/use/telemetry.md) into a trace for CTF readers: a folder with the
file "metadata" and a file for each CPU.

  tools/trace_split.py STREAM FOLDER

Unreadable bytes are skipped up to the next packet, counted and reported; the exit code is then 1.
"""
import os
import struct
import sys

METADATA_MAGIC = 0x75D11D57
# magic uuid checksum content packet compression encryption checksum major minor
METADATA = struct.Struct("<I16sIIIBBBBB")
EVENTS_MAGIC = 0xC1FC1FC1
# magic uuid stream begin end content packet sequence discarded cpu
EVENTS = struct.Struct("<I16sIQQQQQQI")
PACKET_MAX = 1 << 20
CPUS_MAX = 1 << 12


class Stream:
    def __init__(self, data):
        self.data = data
        self.uuid = None
        self.metadata = []
        self.cpus = {}
        self.skipped = 0
        self.why = None

    def packet_at(self, at):
        """Returns the length of the packet there, or None if there is no whole one."""
        data = self.data
        magic = data[at : at + 4]
        if magic == struct.pack("<I", METADATA_MAGIC) and at + METADATA.size <= len(data):
            (
                _,
                uuid,
                _,
                content,
                size,
                compression,
                encryption,
                _,
                major,
                minor,
            ) = METADATA.unpack_from(data, at)
            if (compression, encryption, major, minor) != (0, 0, 1, 8):
                return None
            return self.take(at, uuid, content, size, METADATA.size, None)
        if magic == struct.pack("<I", EVENTS_MAGIC) and at + EVENTS.size <= len(data):
            _, uuid, stream, begin, end, content, size, sequence, _, cpu = EVENTS.unpack_from(
                data, at
            )
            if stream != 0 or begin > end or cpu >= CPUS_MAX:
                return None
            return self.take(at, uuid, content, size, EVENTS.size, cpu)
        return None

    def take(self, at, uuid, content_bits, size_bits, header, cpu):
        size, content = size_bits // 8, content_bits // 8
        if (
            size_bits % 64
            or content_bits % 8
            or not header <= content <= size <= PACKET_MAX
            or at + size > len(self.data)
        ):
            return None
        if self.uuid is None:
            self.uuid = uuid
        if uuid != self.uuid:
            return None
        if cpu is None:
            self.metadata.append(self.data[at + header : at + content])
        else:
            self.cpus.setdefault(cpu, []).append(self.data[at : at + size])
        return size

    def next_magic(self, at):
        found = [self.data.find(struct.pack("<I", m), at) for m in (METADATA_MAGIC, EVENTS_MAGIC)]
        found = [f for f in found if f >= 0]
        return min(found) if found else len(self.data)

    def read(self):
        at = 0
        while at < len(self.data):
            size = self.packet_at(at)
            if size:
                at += size
                continue
            after = self.next_magic(at + 1)
            if self.why is None:
                self.why = f"no whole packet at byte {at}"
            self.skipped += after - at
            at = after


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    try:
        with open(sys.argv[1], "rb") as f:
            stream = Stream(f.read())
    except OSError as e:
        sys.exit(f"trace_split: {sys.argv[1]}: {e.strerror}")
    stream.read()
    if not stream.metadata:
        sys.exit(
            f"trace_split: {sys.argv[1]}: no description of the events: this is no telemetry "
            "stream, or has lost its beginning"
        )
    os.makedirs(sys.argv[2], exist_ok=True)
    for name in os.listdir(sys.argv[2]):
        if name == "metadata" or name.startswith("cpu"):
            os.unlink(os.path.join(sys.argv[2], name))
    with open(os.path.join(sys.argv[2], "metadata"), "wb") as f:
        f.write(b"".join(stream.metadata))
    for cpu, packets in sorted(stream.cpus.items()):
        with open(os.path.join(sys.argv[2], f"cpu{cpu}"), "wb") as f:
            f.write(b"".join(packets))
    packets = sum(len(p) for p in stream.cpus.values())
    print(
        f"trace_split: {len(stream.cpus)} CPUs, {packets} packets, {stream.skipped} bytes skipped"
    )
    if stream.skipped:
        sys.exit(f"trace_split: {sys.argv[1]}: {stream.why}")


main()
