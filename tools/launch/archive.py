"""Writes a tree as a tar archive that is the same for the same tree: POSIX pax, sorted, all files of
user 0 with time 0, long names in pax headers. Contents from 4096 bytes on lie at multiples of 4096,
so that the kernel can use them where they are: a comment in a pax header fills the gap.
"""
import os
import struct

BLOCK = 512
PAGE = 4096
NAME_MAX, LINK_MAX = 100, 100
SIZE_MAX = 8 ** 11 - 1
REGULAR, HARD, SYMBOLIC, FOLDER, EXTENDED = b"0", b"1", b"2", b"5", b"x"
USTAR = struct.Struct("100s8s8s8s12s12s8s1s100s6s2s32s32s8s8s155s12x")
PIECE = 1 << 20


def octal(value, size):
    return b"%0*o\0" % (size - 1, value)


def header(name, mode, size, kind, link=b""):
    """Returns the block in front of an entry's contents; `name` and `link` fit."""
    def pack(checksum):
        return USTAR.pack(name, octal(mode, 8), octal(0, 8), octal(0, 8), octal(size, 12),
                          octal(0, 12), checksum, kind, link, b"ustar\0", b"00", b"", b"",
                          octal(0, 8), octal(0, 8), b"")
    return pack(b"%06o\0 " % sum(pack(b" " * 8)))


def record(key, value):
    """Returns a line of a pax header, which begins with its own length."""
    rest = b" " + key + b"=" + value + b"\n"
    length = len(rest) + 1
    while len(b"%d" % length) + len(rest) != length:
        length = len(b"%d" % length) + len(rest)
    return b"%d" % length + rest


def padded(data):
    return data + bytes(-len(data) % BLOCK)


COMMENT_MIN = len(record(b"comment", b""))


def comment(size):
    """Returns a comment of `size` bytes in all."""
    value = b"." * (size - len(b"%d comment=\n" % size))
    return record(b"comment", value)


class Writer:
    """Writes entries to a file that is open for writing."""

    def __init__(self, file):
        self.file, self.at = file, 0

    def put(self, data):
        self.file.write(data)
        self.at += len(data)

    def extend(self, name, records):
        """Writes a pax header for the next entry."""
        if records:
            self.put(header(b"././@" + os.path.basename(name)[:60], 0o644, len(records), EXTENDED))
            self.put(padded(records))

    def entry(self, path, mode, kind, size=0, link=""):
        """Begins an entry; `size` bytes of contents follow."""
        name, to = os.fsencode(path).lstrip(b"/"), os.fsencode(link)
        records = b""
        if kind == FOLDER:
            name += b"/"
        if len(name) > NAME_MAX:
            records += record(b"path", name)
        if len(to) > LINK_MAX:
            records += record(b"linkpath", to)
        if size > SIZE_MAX:
            records += record(b"size", b"%d" % size)
        if size >= PAGE:
            records = self.align(records)
        self.extend(name, records)
        self.put(header(name[:NAME_MAX], mode, size if size <= SIZE_MAX else 0, kind,
                        to[:LINK_MAX]))

    def align(self, records):
        """Adds a comment to `records` by which the entry's contents begin at a page."""
        if not records and not (self.at + BLOCK) % PAGE:
            return records
        blocks = -(-(len(records) + COMMENT_MIN) // BLOCK)
        while (self.at + BLOCK + blocks * BLOCK + BLOCK) % PAGE:
            blocks += 1
        return records + comment(blocks * BLOCK - len(records))

    def contents(self, path, size):
        """Copies a file of exactly `size` bytes."""
        left = size
        with open(path, "rb") as file:
            while left:
                piece = file.read(min(PIECE, left))
                if not piece:
                    raise OSError(0, f"became {left} bytes shorter while it was packed", path)
                self.put(piece)
                left -= len(piece)
        self.put(bytes(-size % BLOCK))

    def data(self, data):
        self.put(padded(data))

    def end(self):
        self.put(bytes(2 * BLOCK))
        self.put(bytes(-self.at % PAGE))
