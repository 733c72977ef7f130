"""Reads what the start of a program depends on from an ELF file of either instruction set.

The file is not trusted: every offset and count is checked, and an error names the file and what was
expected (System V ABI, chapters 4 and 5; sizes are those of 64-bit files).
"""
import struct

MACHINES = {62: "x86_64", 183: "aarch64"}
NAMES = {"x86_64": "x86-64", "aarch64": "AArch64"}
MAGIC = b"\x7fELF"

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")
DYNAMIC = struct.Struct("<qQ")
CLASS_64, LITTLE_ENDIAN = 2, 1
ET_EXEC, ET_DYN = 2, 3
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NULL, DT_NEEDED, DT_STRTAB, DT_STRSZ, DT_SONAME, DT_RPATH, DT_RUNPATH = 0, 1, 5, 10, 14, 15, 29
STRING_MAX = 4096
SEGMENTS_MAX = 4096


class ElfError(Exception):
    """A file is not what a program or a library has to be."""


class Elf:
    """What a program or library needs: isa ("x86_64", "aarch64"), interpreter (None: static, or a
    library), needed (names), soname, rpath and runpath (lists of folders, not expanded)."""

    def __init__(self, path):
        self.path = path
        self.interpreter, self.needed, self.soname = None, [], None
        self.rpath, self.runpath = [], []
        with open(path, "rb") as file:
            self.data = file.read()
        self.segments = self.read_segments(self.read_header())
        for kind, _, offset, _, _, size, _, _ in self.segments:
            if kind == PT_INTERP:
                self.interpreter = self.text(self.part(offset, size, "the interpreter's name"), 0,
                                             "the interpreter's name")
            elif kind == PT_DYNAMIC:
                self.read_dynamic(self.part(offset, size, "the dynamic section"))
        del self.data

    def fail(self, why):
        raise ElfError(f"{self.path}: {why}")

    def part(self, offset, size, what):
        """Returns a part of the file."""
        if offset + size > len(self.data):
            self.fail(f"{what} ends at byte {offset + size}, and the file has {len(self.data)}")
        return self.data[offset:offset + size]

    def text(self, table, at, what):
        """Returns the string at `at` of a table."""
        end = table.find(b"\0", at, at + STRING_MAX) if at < len(table) else -1
        if end < 0:
            self.fail(f"{what} is no string: no zero byte within its table")
        return table[at:end].decode("utf-8", "surrogateescape")

    def read_header(self):
        if self.data[:4] != MAGIC:
            self.fail("is no ELF file (it begins with "
                      f"{self.data[:4].hex(' ') or 'nothing'}, expected 7f 45 4c 46)")
        if len(self.data) < HEADER.size:
            self.fail(f"has {len(self.data)} bytes, and an ELF header has {HEADER.size}")
        header = HEADER.unpack_from(self.data)
        ident, kind, machine = header[:3]
        if ident[4] != CLASS_64:
            self.fail("is a 32-bit program, expected a 64-bit one")
        if ident[5] != LITTLE_ENDIAN:
            self.fail("is big-endian, expected little-endian")
        if machine not in MACHINES:
            self.fail(f"is for machine {machine}, expected 62 (x86-64) or 183 (AArch64)")
        if kind not in (ET_EXEC, ET_DYN):
            self.fail(f"has type {kind}, expected 2 (a program) or 3 (position-independent)"
                      + (": it is an object file, to be linked" if kind == 1 else ""))
        self.isa, self.kind = MACHINES[machine], kind
        return header

    def read_segments(self, header):
        offset, entry, count = header[5], header[9], header[10]
        if not count:
            self.fail("has no program headers, so nothing of it can be loaded")
        if entry != SEGMENT.size or count > SEGMENTS_MAX:
            self.fail(f"has {count} program headers of {entry} bytes, "
                      f"expected at most {SEGMENTS_MAX} of {SEGMENT.size}")
        table = self.part(offset, entry * count, "the table of program headers")
        return list(SEGMENT.iter_unpack(table))

    def file_offset(self, address):
        """Returns the place in the file of an address in memory."""
        for kind, _, offset, va, _, size, _, _ in self.segments:
            if kind == PT_LOAD and va <= address < va + size:
                return offset + address - va, va + size - address
        self.fail(f"its dynamic section names address {address:#x}, which no segment has")
        return 0, 0

    def read_dynamic(self, table):
        values = {}
        needed = []
        for tag, value in DYNAMIC.iter_unpack(table[:len(table) // DYNAMIC.size * DYNAMIC.size]):
            if tag == DT_NULL:
                break
            if tag == DT_NEEDED:
                needed.append(value)
            values[tag] = value
        if not needed and not values.keys() & {DT_SONAME, DT_RPATH, DT_RUNPATH}:
            return
        if DT_STRTAB not in values:
            self.fail("its dynamic section has no table of strings")
        offset, room = self.file_offset(values[DT_STRTAB])
        strings = self.part(offset, min(values.get(DT_STRSZ, room), room), "its table of strings")
        self.needed = [self.text(strings, at, "a needed library's name") for at in needed]
        if DT_SONAME in values:
            self.soname = self.text(strings, values[DT_SONAME], "its own name")
        for tag, name in (DT_RPATH, "rpath"), (DT_RUNPATH, "runpath"):
            if tag in values:
                folders = self.text(strings, values[tag], f"its {name}").split(":")
                setattr(self, name, [folder for folder in folders if folder])


def is_elf(path):
    """Returns whether a file claims to be one."""
    with open(path, "rb") as file:
        return file.read(4) == MAGIC
