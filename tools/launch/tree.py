"""The files of the guest: a tree of folders, files and links, filled from layers.

A layer is a folder of the host that stands for the guest's root: an unpacked set of packages, the
folder of --root, and last the host's own root. A path is looked up in one after the other. The
tree's own links lead on: where the guest's /lib leads to usr/lib, files of /lib are put there.
"""
import hashlib
import os
import posixpath
import stat

import archive

LINKS_MAX = 40
MERGED = ("bin", "lib", "lib64", "sbin")
FOLDER, FILE, LINK, HARD = "folder", "file", "link", "hard"


class TreeError(Exception):
    """A path does not lead to what was expected there."""


class Node:
    """An entry: kind, mode; of a file its source on the host or its data, of a link its target."""

    def __init__(self, kind, mode=0o755, source=None, data=None, target=None, status=None):
        self.kind, self.mode, self.source, self.data = kind, mode, source, data
        self.target, self.status = target, status

    def size(self):
        if self.kind != FILE:
            return 0
        return len(self.data) if self.data is not None else self.status.st_size

    def identity(self):
        """Returns what changes whenever the entry does."""
        if self.status is None or self.kind != FILE:
            return (self.kind, self.mode, self.target, digest_of(self.data))
        s = self.status
        return (self.kind, self.mode, s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns)


def digest_of(data):
    return None if data is None else hashlib.sha256(data).hexdigest()


def clean(path):
    """Returns an absolute path without '.', '..' and repeated slashes."""
    return posixpath.normpath("/" + path.lstrip("/"))


class Layers:
    """Folders of the host that are looked through in order."""

    def __init__(self, folders):
        self.folders = [folder.rstrip("/") for folder in folders]

    def find(self, path):
        """Returns place on the host and status of a guest path, whose folders are no links; None:
        no layer has it."""
        for folder in self.folders:
            try:
                return folder + path, os.lstat(folder + path)
            except (FileNotFoundError, NotADirectoryError):
                continue
        return None


class Tree:
    def __init__(self, layers):
        self.layers, self.nodes = layers, {"/": Node(FOLDER)}
        self.hard = {}
        for name in MERGED:
            found = layers.find("/" + name)
            if not found or stat.S_ISLNK(found[1].st_mode):
                self.nodes["/" + name] = Node(LINK, 0o777, target="usr/" + name)

    def node_of(self, path):
        """Returns the node at a canonical path, taken from the layers if it is not there yet."""
        node = self.nodes.get(path)
        if node:
            return node
        found = self.layers.find(path)
        if not found:
            return None
        source, status = found
        mode = stat.S_IMODE(status.st_mode) & 0o1777
        if stat.S_ISDIR(status.st_mode):
            node = Node(FOLDER, mode | 0o700)
        elif stat.S_ISLNK(status.st_mode):
            node = Node(LINK, 0o777, target=os.readlink(source))
        elif stat.S_ISREG(status.st_mode):
            node = self.file_node(path, source, mode, status)
        else:
            return None
        return node

    def file_node(self, path, source, mode, status):
        """Returns a file's node; a second name of one file is a hard link to the first."""
        if status.st_nlink > 1:
            first = self.hard.setdefault((status.st_dev, status.st_ino), path)
            if first != path and first in self.nodes:
                return Node(HARD, mode, target=first, status=status)
        return Node(FILE, mode, source=source, status=status)

    def walk(self, path, keep):
        """Follows links of the tree and of the layers. Returns the canonical path that `path` leads
        to, and its node or None. With `keep` what lies on the way becomes part of the tree."""
        left = [part for part in path.split("/") if part and part != "."]
        at, links = "/", 0
        while left:
            name = left.pop(0)
            if name == "..":
                at = posixpath.dirname(at)
                continue
            here = posixpath.join(at, name)
            node = self.node_of(here)
            if node is None:
                return posixpath.join(here, *left), None
            if keep:
                self.nodes.setdefault(here, node)
            if node.kind == LINK:
                links += 1
                if links > LINKS_MAX:
                    raise TreeError(f"{path}: more than {LINKS_MAX} links on the way")
                left = [p for p in node.target.split("/") if p and p != "."] + left
                at = "/" if node.target.startswith("/") else at
                continue
            if left and node.kind != FOLDER:
                return posixpath.join(here, *left), None
            at = here
        return at, self.nodes.get(at) or self.node_of(at)

    def find(self, path):
        """Returns the file of the host that a guest path leads to, or None."""
        node = self.walk(path, False)[1]
        if node is not None and node.kind == HARD:
            node = self.nodes[node.target]
        return node.source if node is not None and node.kind == FILE else None

    def bring(self, path):
        """Makes the file that `path` leads to part of the tree, and the links and folders on the
        way. Returns its place on the host."""
        where, node = self.walk(path, True)
        if node is None:
            raise TreeError(f"{path}: no such file" + (f" ({where})" if where != path else ""))
        if node.kind == FOLDER:
            raise TreeError(f"{path}: is a folder, expected a file")
        return self.nodes[node.target].source if node.kind == HARD else node.source

    def bring_all(self, path, skipped):
        """Makes what `path` leads to part of the tree: a file, or a folder with all below it but
        names in `skipped`."""
        where, node = self.walk(path, True)
        if node is None or node.kind != FOLDER:
            self.bring(path)
            return
        found = self.layers.find(where) if where != "/" else None
        if not found:
            raise TreeError(f"{path}: is too much to take along")
        for name in sorted(os.listdir(found[0])):
            here = posixpath.join(where, name)
            node = self.node_of(here)
            if name in skipped or node is None:
                continue
            if node.kind == FOLDER:
                self.bring_all(here, skipped)
            else:
                self.nodes.setdefault(here, node)

    def folder(self, path, mode=0o755):
        """Makes a folder and those above it. Returns its canonical path."""
        at, links = "/", 0
        left = [part for part in path.split("/") if part]
        while left:
            here = posixpath.join(at, left.pop(0))
            node = self.nodes.get(here) or self.node_of(here) or Node(FOLDER, mode)
            self.nodes.setdefault(here, node)
            if node.kind == LINK and links < LINKS_MAX:
                links += 1
                left = [p for p in node.target.split("/") if p and p != "."] + left
                at = "/" if node.target.startswith("/") else at
                continue
            if node.kind != FOLDER:
                raise TreeError(f"{path}: {here} is no folder")
            at = here
        return at

    def add(self, path, source, follow=False):
        """Adds a file, a link or a whole folder of the host at a guest path."""
        parent = self.folder(posixpath.dirname(clean(path)))
        self.add_at(posixpath.join(parent, posixpath.basename(clean(path))), source, follow)

    def add_at(self, path, source, follow):
        status = os.stat(source) if follow else os.lstat(source)
        mode = stat.S_IMODE(status.st_mode) & 0o1777
        if stat.S_ISLNK(status.st_mode):
            self.nodes[path] = Node(LINK, 0o777, target=os.readlink(source))
        elif stat.S_ISREG(status.st_mode):
            self.nodes[path] = self.file_node(path, source, mode, status)
        elif stat.S_ISDIR(status.st_mode):
            if path not in self.nodes:
                self.nodes[path] = Node(FOLDER, mode | 0o700)
            for name in sorted(os.listdir(source)):
                self.add(posixpath.join(path, name), os.path.join(source, name))

    def add_layer(self, folder, skipped):
        """Adds all of a layer but the paths in `skipped`."""
        def below(path):
            for name in sorted(os.listdir(folder + path)):
                here = posixpath.join(path, name)
                if here in skipped:
                    continue
                if os.path.isdir(folder + here) and not os.path.islink(folder + here):
                    self.folder(here)
                    below(here)
                elif here not in self.nodes:
                    self.add(here, folder + here)
        below("/")

    def put(self, path, text, mode=0o644):
        """Adds a file with contents of its own, unless there is one."""
        self.put_bytes(path, text.encode("utf-8", "surrogateescape"), mode)

    def put_bytes(self, path, data, mode=0o644):
        path = posixpath.join(self.folder(posixpath.dirname(path)), posixpath.basename(path))
        self.nodes.setdefault(path, Node(FILE, mode, data=data))

    def link(self, path, target):
        """Adds a link, unless there is something."""
        path = posixpath.join(self.folder(posixpath.dirname(path)), posixpath.basename(path))
        self.nodes.setdefault(path, Node(LINK, 0o777, target=target))

    def key(self):
        """Returns a name for the tree's contents, without reading them."""
        digest = hashlib.sha256()
        for path in sorted(self.nodes):
            digest.update(repr((path, self.nodes[path].identity())).encode())
        return digest.hexdigest()[:32]

    def size(self):
        return sum(node.size() for node in self.nodes.values())

    def write(self, file):
        """Writes the tree as an archive."""
        kinds = {FOLDER: archive.FOLDER, FILE: archive.REGULAR, LINK: archive.SYMBOLIC,
                 HARD: archive.HARD}
        out = archive.Writer(file)
        first = {path for path, node in self.nodes.items() if node.kind != HARD} - {"/"}
        for path in sorted(first) + sorted(self.nodes.keys() - first - {"/"}):
            node = self.nodes[path]
            target = node.target or ""
            out.entry(path, node.mode, kinds[node.kind], node.size(),
                      target.lstrip("/") if node.kind == HARD else target)
            if node.kind == FILE and node.data is not None:
                out.data(node.data)
            elif node.kind == FILE:
                out.contents(node.source, node.size())
        out.end()
