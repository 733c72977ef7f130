"""Finds all files that a program needs to start, as the dynamic linker and execve will: interpreters
of scripts, the program's interpreter, its libraries and theirs (ld.so(8), execve(2)).
"""
import glob
import os
import posixpath

import elf

SCRIPT_DEPTH_MAX = 5
SCRIPT_LINE_MAX = 256
TRIPLETS = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}
# Debian's dynamic linker looks in these without being told.
BUILT_IN = ("/lib/{}", "/usr/lib/{}", "/lib", "/usr/lib")
ELSEWHERE = ("/lib64", "/usr/lib64", "/usr/local/lib/{}", "/usr/local/lib")
# glibc loads it itself when a thread ends or is cancelled.
BY_ITSELF = {"libc.so.6": "libgcc_s.so.1"}


class LoaderError(Exception):
    """Something that a program needs is missing or wrong."""


class Missing(LoaderError):
    """A library or an interpreter that no layer has."""

    def __init__(self, name, isa, wanted_by):
        super().__init__(f"{wanted_by}: needs {name} for {elf.NAMES[isa]}, which is not there")
        self.name, self.isa = name, isa


def conf_folders(tree, path, seen):
    """Returns the folders that an ld.so.conf names, through its includes."""
    file = tree.find(path)
    if file is None or path in seen or len(seen) > 100:
        return []
    seen.add(path)
    folders = []
    with open(file, encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if words[:1] == ["include"]:
                for pattern in words[1:]:
                    pattern = posixpath.join(posixpath.dirname(path), pattern)
                    for layer in tree.layers.folders:
                        for found in sorted(glob.glob(layer + pattern)):
                            folders += conf_folders(tree, found[len(layer):], seen)
            elif words and words[0] != "hwcap":
                folders.append(words[0])
    return folders


class Loader:
    """Brings a program and what it needs into a tree."""

    def __init__(self, tree, environment, own=None):
        """Libraries must come from one of the layers in `own`, unless it is None or an rpath
        names their folder."""
        self.tree, self.environment, self.own = tree, environment, own
        self.loaded, self.isa = {}, None

    def run(self, path, search):
        """Brings a program, and the interpreter of a script. `search` finds a program by its name
        for "#!/usr/bin/env NAME". Returns the instruction set."""
        for _ in range(SCRIPT_DEPTH_MAX):
            file = self.tree.bring(path)
            if elf.is_elf(file):
                self.program(path, file)
                return self.isa
            words = self.script_line(path, file)
            if posixpath.basename(words[0]) == "env" and len(words) > 1:
                self.run(words[0], search)
                name = words[1].split()[-1] if words[1].startswith("-S") else words[1]
                words = [search(name)]
            path = words[0]
        raise LoaderError(f"{path}: more than {SCRIPT_DEPTH_MAX} interpreters, each of the other")

    @staticmethod
    def script_line(path, file):
        """Returns interpreter and argument of a script."""
        with open(file, "rb") as script:
            line = script.read(SCRIPT_LINE_MAX).split(b"\n")[0]
        words = line[2:].decode("utf-8", "surrogateescape").strip(" \t").split(None, 1)
        if line[:2] != b"#!":
            raise LoaderError(f"{path}: is neither an ELF file nor a script (it begins with "
                              f"{line[:4].hex(' ') or 'nothing'}, expected 7f 45 4c 46 or '#!')")
        if not words or not words[0].startswith("/"):
            raise LoaderError(f"{path}: its first line names no interpreter from / on")
        return words

    def program(self, path, file):
        program = elf.Elf(file)
        self.isa = program.isa
        if program.interpreter:
            self.interpreter(program, path)
        self.objects([(program, posixpath.dirname(path), [])])

    def interpreter(self, program, path):
        name = program.interpreter
        file = self.tree.find(name)
        if file is None or not self.allowed(file) or not elf.is_elf(file) or \
                elf.Elf(file).isa != self.isa:
            raise Missing(name, self.isa, path)
        self.tree.bring(name)
        self.loaded[posixpath.basename(name)] = name

    def objects(self, queue):
        """Brings the libraries of the programs and libraries in `queue`, breadth first, as the
        dynamic linker does. An entry: file, its folder in the guest, rpaths of those that loaded
        it."""
        while queue:
            one, folder, inherited = queue.pop(0)
            rpaths = [] if one.runpath else self.expand(one.rpath, folder) + inherited
            names = one.needed + [BY_ITSELF[n] for n in one.needed if n in BY_ITSELF]
            for name in names:
                if name in self.loaded:
                    continue
                found = self.library(name, one, folder, rpaths)
                if found is None and name in BY_ITSELF.values() and name not in one.needed:
                    continue
                if found is None:
                    raise Missing(name, self.isa, one.path)
                where, library = found
                self.loaded[name] = where
                if library.soname:
                    self.loaded.setdefault(library.soname, where)
                queue.append((library, posixpath.dirname(where), rpaths))

    def library(self, name, one, folder, rpaths):
        """Brings a library. Returns its guest path and contents, or None."""
        if "/" in name:
            places = [name if name.startswith("/") else posixpath.join(folder, name)]
        else:
            given = self.environment.get("LD_LIBRARY_PATH", "").split(":")
            folders = (rpaths + [f for f in given if f] + self.expand(one.runpath, folder))
            places = [posixpath.join(f, name) for f in folders + self.defaults()]
        for place in places:
            file = self.tree.find(place)
            if file is None or not elf.is_elf(file):
                continue
            if "/" not in name and posixpath.dirname(place) not in folders and \
                    not self.allowed(file):
                continue
            library = elf.Elf(file) if self.same_isa(file) else None
            if library is None:
                continue
            self.tree.bring(place)
            if "/" not in name and posixpath.dirname(place) not in folders + self.built_in():
                self.tree.link(posixpath.join(self.built_in()[1], name), place)
            return place, library
        return None

    def allowed(self, file):
        """Returns whether a file of the host may serve as a library."""
        return self.own is None or any(file.startswith(folder + "/") for folder in self.own)

    def same_isa(self, file):
        """Returns whether a file is for the program's instruction set. Like the dynamic linker
        passes over others."""
        with open(file, "rb") as library:
            head = library.read(elf.HEADER.size)
        return (len(head) == elf.HEADER.size and head[4] == elf.CLASS_64 and
                elf.MACHINES.get(elf.HEADER.unpack(head)[2]) == self.isa)

    def built_in(self):
        return [f.format(TRIPLETS[self.isa]) for f in BUILT_IN]

    def defaults(self):
        """Returns the folders of libraries that need no rpath: the configured ones come first."""
        return (conf_folders(self.tree, "/etc/ld.so.conf", set()) + self.built_in() +
                [f.format(TRIPLETS[self.isa]) for f in ELSEWHERE])

    def expand(self, folders, origin):
        """Replaces $ORIGIN, $LIB and $PLATFORM (ld.so(8))."""
        out = []
        for folder in folders:
            for name, value in (("ORIGIN", origin), ("LIB", "lib/" + TRIPLETS[self.isa]),
                                ("PLATFORM", self.isa)):
                folder = folder.replace("${" + name + "}", value).replace("$" + name, value)
            out.append(posixpath.normpath(folder))
        return out


def path_search(tree, name, folders):
    """Returns the guest path of the first executable file of that name, or None."""
    for folder in folders:
        place = posixpath.join(folder, name)
        file = tree.find(place)
        if file is not None and os.access(file, os.X_OK):
            return place
    return None
