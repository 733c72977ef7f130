#!/usr/bin/env python3
"""Makes an initramfs of a tar archive (cpio's format newc; Linux, Documentation/driver-api/
early-userspace/buffer-format.rst), with a first process and other files on top.

    tools/initramfs.py TREE.tar OUT [/PATH=FILE ...]      a FILE's mode stays, its owner is root
"""
import os
import sys
import tarfile

S_IFREG, S_IFDIR, S_IFLNK = 0o100000, 0o040000, 0o120000
PIECE = 1 << 20


class Writer:
    def __init__(self, file):
        self.file, self.number = file, 0

    def entry(self, name, mode, size, links=1, number=None):
        """Begins an entry; `size` bytes of contents follow."""
        name = os.fsencode(name) + b"\0"
        if number is None:
            self.number += 1
            number = self.number
        fields = (number, mode, 0, 0, links, 0, size, 0, 0, 0, 0, len(name), 0)
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + name
        self.file.write(head + bytes(-len(head) % 4))
        return number

    def file_entry(self, name, mode, source, size, **more):
        number = self.entry(name, mode | S_IFREG, size, **more)
        left = size
        while left:
            piece = source.read(min(PIECE, left))
            if not piece:
                raise OSError(0, "ends early", name)
            self.file.write(piece)
            left -= len(piece)
        self.file.write(bytes(-size % 4))
        return number

    def link_entry(self, name, target):
        target = os.fsencode(target)
        self.entry(name, S_IFLNK | 0o777, len(target))
        self.file.write(target + bytes(-len(target) % 4))

    def end(self):
        self.entry("TRAILER!!!", 0, 0, number=0)
        self.file.write(bytes(-self.file.tell() % 512))


def add_tree(out, archive):
    """Copies the archive's entries. Of several names of one file the contents are copied with
    each: cpio would have them with the last one."""
    for member in archive:
        if member.isdir():
            out.entry(member.name, member.mode | S_IFDIR, 0, links=2)
        elif member.issym():
            out.link_entry(member.name, member.linkname)
        elif member.isreg() or member.islnk():
            source = archive.extractfile(member)
            size = archive.getmember(member.linkname).size if member.islnk() else member.size
            out.file_entry(member.name, member.mode, source, size)


def main(tree, target, extra):
    folders = set()
    with open(target, "wb") as file, tarfile.open(tree) as archive:
        out = Writer(file)
        add_tree(out, archive)
        for path, source in (word.split("=", 1) for word in extra):
            folder = os.path.dirname(path).lstrip("/")
            if folder and folder not in folders:
                folders.add(folder)
                out.entry(folder, S_IFDIR | 0o755, 0, links=2)
            with open(source, "rb") as contents:
                status = os.stat(source)
                out.file_entry(path.lstrip("/"), status.st_mode & 0o777, contents, status.st_size)
        out.end()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        print("usage: initramfs.py TREE.tar OUT [/PATH=FILE ...]", file=sys.stderr)
        sys.exit(2)
    try:
        main(sys.argv[1], sys.argv[2], sys.argv[3:])
    except (OSError, tarfile.TarError, ValueError) as error:
        print(f"initramfs.py: {error}", file=sys.stderr)
        sys.exit(1)
