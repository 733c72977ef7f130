#!/usr/bin/env python3
"""Floods a card of the guest, whose other end is a QEMU netdev `dgram`: SYNs, ACKs, resets and
fragments of addresses that are not there, and frames of no meaning.

  flood.py OWN_SOCKET QEMU_SOCKET FRAMES

Requests for the addresses (ARP) are answered. Prints sent=, the frames, and answered=, the SYN-ACKs
that came back.
"""

import os
import random
import socket
import struct
import sys
import time

CARD = bytes.fromhex("525400123499")
OWN = bytes.fromhex("525400aa0001")
TARGET = bytes([10, 9, 0, 1])
SYN, RST, ACK = 2, 4, 16


def total(data):
    """Returns the checksum of RFC 1071."""
    if len(data) % 2:
        data += b"\0"
    n = sum(struct.unpack(f">{len(data) // 2}H", data))
    n = (n >> 16) + (n & 0xFFFF)
    return ~(n + (n >> 16)) & 0xFFFF


def packet(source, protocol, body, fragment=0):
    """Returns an IPv4 packet in a frame."""
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), random.getrandbits(16), fragment, 64,
                       protocol, 0) + source + TARGET
    head = head[:10] + struct.pack(">H", total(head)) + head[12:]
    return CARD + OWN + b"\x08\x00" + head + body


def segment(source, flags):
    """Returns a segment to port 80."""
    port = random.randrange(1024, 65536)
    body = struct.pack(">HHIIBBHHH", port, 80, random.getrandbits(32), random.getrandbits(32), 0x50,
                       flags, 8192, 0, 0)
    pseudo = source + TARGET + struct.pack(">BBH", 0, 6, len(body))
    body = body[:16] + struct.pack(">H", total(pseudo + body)) + body[18:]
    return packet(source, 6, body)


def frame():
    """Returns a frame of the flood."""
    source = bytes([10, 9, 0, random.randrange(2, 255)])
    what = random.randrange(10)
    if what < 6:
        return segment(source, SYN)
    if what < 8:
        return packet(source, 17, os.urandom(64), random.choice([0x2000, 0x2008, 0x0010]))
    if what == 8:
        return segment(source, random.choice([ACK, RST, SYN | ACK]))
    return CARD + OWN + b"\x08\x00" + os.urandom(random.randrange(0, 200))


def main():
    """Sends the frames, and looks at what comes back."""
    own, qemu, frames = sys.argv[1], sys.argv[2], int(sys.argv[3])
    random.seed(1)
    wire = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    wire.bind(own)
    wire.setblocking(False)
    sent, answered, until = 0, 0, time.time() + 100
    while sent < frames and time.time() < until:
        try:
            while True:
                got = wire.recv(2048)
                if got[12:14] == b"\x08\x06" and got[20:22] == b"\0\x01" and got[38:42] != TARGET:
                    answer = got[6:12] + OWN + got[12:20] + b"\0\x02" + OWN + got[38:42] + CARD
                    wire.sendto(answer + got[28:32], qemu)
                answered += got[12:14] == b"\x08\x00" and got[23] == 6 and got[47] == SYN | ACK
        except (BlockingIOError, OSError):
            pass
        try:
            wire.sendto(frame(), qemu)
            sent += 1
        except OSError:
            time.sleep(0.001)
    print(f"flood: sent={sent} answered={answered}")


main()
