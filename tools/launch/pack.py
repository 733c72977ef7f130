"""Makes the guest's files of the options of a run: a tar archive, kept by its contents."""
import os
import platform
import posixpath
import stat
import subprocess
import tarfile
import tempfile

import elf
import loader
import packages
import tree

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
FOLDERS = {"/dev": 0o755, "/proc": 0o755, "/sys": 0o755, "/root": 0o700, "/run": 0o755,
           "/tmp": 0o1777, "/var/tmp": 0o1777}
# As base-passwd has them; servers look for the last two, also when they stay root.
PASSWD = ("root:x:0:0:root:/root:/bin/sh\n"
          "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
          "www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\n"
          "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n")
GROUP = "root:x:0:\ndaemon:x:1:\nwww-data:x:33:\nnogroup:x:65534:\n"
NSSWITCH = "passwd: files\ngroup: files\nhosts: files dns\n"
HOSTS = "127.0.0.1 localhost\n"
SKIPPED = {".git"}
LOCALES = ("/usr/lib/locale/C.utf8",)  # of LANG, which glibc has in files
INPUT = "/.vigil/input"  # what programs read as standard input, if it is there
WORDS = "/.vigil/words"  # the command, where it is too long for the kernel's command line
BESIDE = "/.vigil/beside"  # the program that starts a server and the program (tools/beside.c)
WORDS_MAX, WORDS_BYTES = 48, 2048  # of a command that goes there
STACK_BYTES, STACK_OWN = 128 << 10, 1024  # first contents of a program's stack; the kernel's of them
BYTES_MAX = 4 << 30
KEPT_COUNT, KEPT_BYTES = 8, 4 << 30
FETCHES_MAX = 8
PIECE = 1 << 20
NULL_DEVICE = os.makedev(1, 3)


class PackError(Exception):
    """The program's files cannot be had."""


class Packed:
    """arch, archive (its path) and its size; words: path of the program, and its arguments;
    folder: the working directory; has_input: standard input is in it; has_words: these are in its
    file WORDS, too."""

    def __init__(self, arch, archive, size, words, folder, has_input, has_words):
        self.arch, self.archive, self.size = arch, archive, size
        self.words, self.folder, self.has_input = words, folder, has_input
        self.has_words = has_words


class Packer:
    def __init__(self, top, options, say):
        self.top, self.o, self.say = top, options, say
        self.here = os.getcwd()
        self.environment = self.read_environment()
        self.fetched, self.root, self.debs = [], None, None
        if options.root:
            self.root = os.path.realpath(options.root)
            if not os.path.isdir(self.root):
                raise PackError(f"--root {options.root}: no such folder")

    def read_environment(self):
        """Returns the program's environment."""
        env = {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8", "PWD": self.here}
        for word in self.o.env:
            name, equals, value = word.partition("=")
            if not equals:
                if name not in os.environ:
                    raise PackError(f"--env {name}: there is no such variable here")
                value = os.environ[name]
            env[name] = value
        return env

    def named_file(self):
        """Returns the guest path of a program that is named by its path, or None."""
        name = self.o.command[0]
        return tree.clean(posixpath.join(self.here, name)) if "/" in name else None

    def first_arch(self):
        """Returns the instruction set for packages: as given, or the program's if it is here, or
        the host's."""
        path = self.named_file()
        if self.o.arch:
            return self.o.arch
        if path and os.path.isfile(path) and elf.is_elf(path):
            return elf.Elf(path).isa
        host = platform.machine()
        return host if host in elf.NAMES else "x86_64"

    def layers(self):
        """Returns the folders that files come from, first to last."""
        return [folder for folder in (self.root, self.debs) if folder] + [""]

    def fetch(self, names, arch):
        self.fetched = sorted(set(self.fetched + names))
        self.debs = packages.fetch(self.top, self.fetched, arch, self.say)

    def search(self, files, name):
        """Returns the guest path of a program by its name, or None."""
        folders = self.environment["PATH"].split(":") + os.environ.get("PATH", "").split(":")
        found = loader.path_search(files, name, [f for f in folders if f.startswith("/")])
        if not found:
            raise PackError(f"no program is called '{name}' in {self.environment['PATH']}"
                            + ("" if self.fetched else "; --deb names a package that has it"))
        return found

    def attempt(self, arch):
        """Returns a tree with the program and what it needs to start, its path and instruction
        set. Raises loader.Missing for what no layer has."""
        files = tree.Tree(tree.Layers(self.layers()))
        path = self.named_file() or self.search(files, self.o.command[0])
        load = loader.Loader(files, self.environment, self.own(arch))
        isa = load.run(path, lambda name: self.search(files, name))
        if self.o.beside:
            load.run(self.server(files), lambda name: self.search(files, name))
        return files, path, isa

    def server(self, files):
        """Returns the guest path of the server that runs beside the program."""
        name = self.o.beside[0]
        return (tree.clean(posixpath.join(self.here, name)) if "/" in name
                else self.search(files, name))

    def own(self, arch):
        """Returns the folders that libraries must come from; None: any layer."""
        host = platform.machine() == arch
        return None if host and not self.root else [f for f in (self.root, self.debs) if f]

    def load(self):
        """Does the same, and fetches packages of known libraries that no layer has."""
        arch = self.first_arch()
        if self.o.deb:
            self.fetch(self.o.deb, arch)
        for _ in range(FETCHES_MAX):
            try:
                files, path, isa = self.attempt(arch)
                break
            except loader.Missing as missing:
                package = packages.PACKAGE_OF.get(posixpath.basename(missing.name))
                if self.root or not package or package in self.fetched:
                    raise PackError(f"{missing}; --deb names its package, or --root a folder that "
                                    "has it") from missing
                self.fetch([package], missing.isa)
        else:
            raise PackError("packages do not have the libraries that they should")
        if self.o.arch and isa != self.o.arch:
            raise PackError(f"{path}: is for {elf.NAMES[isa]}, and --arch is {self.o.arch}")
        if self.o.deb and isa != arch:
            raise PackError(f"{path}: is for {elf.NAMES[isa]}, and the packages for "
                            f"{elf.NAMES[arch]}; --arch {isa} has them for it")
        return files, path, isa

    def pack(self):
        """Returns the archive of a run."""
        bundled = self.bundled()
        if bundled:
            return bundled
        files, path, isa = self.load()
        self.add_files(files)
        if self.o.deb:
            files.add_layer(self.debs, packages.SKIPPED)
        if self.root:
            files.add_layer(self.root, set())
        self.add_own(files)
        words = [path] + self.o.command[1:]
        if self.o.beside:
            words = self.add_beside(files, isa) + words
        return self.finish(files, isa, words)

    def add_beside(self, files, isa):
        """Adds what starts a server and its client. Returns the words in front of the client's."""
        built = os.path.join("build", isa, "beside")
        result = subprocess.run(["make", "-s", f"ARCH={isa}", built], cwd=self.top, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, check=False)
        if result.returncode:
            raise PackError(f"make {built} failed:\n{result.stdout}")
        with open(os.path.join(self.top, built), "rb") as file:
            files.put_bytes(BESIDE, file.read(), 0o755)
        return [BESIDE, f"at={self.o.await_}", self.server(files), *self.o.beside[1:], "--"]

    def finish(self, files, isa, words):
        words = self.o.front + words
        has_input, has_words = self.add_input(files), self.add_words(files, words)
        if files.size() > BYTES_MAX:
            raise PackError(f"the files have {files.size() >> 20} MB, and {BYTES_MAX >> 20} MB are "
                            "taken at most")
        name = self.write(files)
        return Packed(isa, name, os.path.getsize(name), words, self.here, has_input,
                      has_words)

    def bundled(self):
        """Returns the archive for a program that comes with Vigil, if it is one and not the name
        of another."""
        name = self.o.command[0]
        arch = self.o.arch or self.first_arch()
        archive = os.path.join(self.top, "build", arch, "vigil.tar")
        if "/" in name or self.o.deb or self.root or self.o.beside or self.o.kernel == "linux":
            return None
        try:
            self.search(tree.Tree(tree.Layers([""])), name)
            return None
        except PackError:
            pass
        if not self.comes_along(name, archive):
            return None
        files = tree.Tree(tree.Layers([""]))
        self.add_files(files)
        self.add_own(files)
        return self.finish(files, arch, self.o.command)

    def comes_along(self, name, archive):
        """Returns whether a program of that name is bundled, or will be once Vigil is built."""
        if not os.path.exists(archive):
            return any(os.path.isdir(os.path.join(self.top, "apps", kind, name))
                       for kind in ("workloads", "tools"))
        with tarfile.open(archive) as tar:
            return name in tar.getnames()

    def add_files(self, files):
        """Adds what --file and --cwd name, and files named as arguments."""
        for word in self.o.command[1:] + (self.o.beside or [])[1:]:
            if word and os.path.isfile(word):
                files.bring(tree.clean(posixpath.join(self.here, word)))
        for name in self.o.file:
            if not os.path.lexists(name):
                raise PackError(f"--file {name}: no such file")
            files.bring_all(tree.clean(posixpath.join(self.here, name)), SKIPPED)
        if self.o.cwd:
            files.bring_all(self.here, SKIPPED)

    def add_own(self, files):
        """Adds what every program expects of a root."""
        for path, mode in FOLDERS.items():
            files.folder(path, mode)
        files.folder(self.here)
        for path in LOCALES:
            if files.walk(path, False)[1]:
                files.bring_all(path, SKIPPED)
        files.put("/etc/environment",
                  "".join(f"{name}={value}\n" for name, value in self.environment.items()))
        for path, text in (("/etc/passwd", PASSWD), ("/etc/group", GROUP), ("/etc/hosts", HOSTS),
                           ("/etc/nsswitch.conf", NSSWITCH)):
            files.put(path, text)

    def add_input(self, files):
        """Adds standard input, if it is a file: only what comes later is passed on by the console.
        Returns whether it is."""
        try:
            status = os.fstat(0)
            at = os.lseek(0, 0, os.SEEK_CUR) if stat.S_ISREG(status.st_mode) else None
        except OSError:
            return False
        if at is not None:
            files.put_bytes(INPUT, read_rest(status.st_size - at))
        elif stat.S_ISCHR(status.st_mode) and status.st_rdev == NULL_DEVICE:
            files.link(INPUT, os.devnull)
        else:
            return False
        return True

    def add_words(self, files, words):
        """Adds the command, if it is long. Returns whether it is."""
        text = b"".join(os.fsencode(word) + b"\0" for word in words)
        if len(words) <= WORDS_MAX and len(text) <= WORDS_BYTES:
            return False
        variables = [os.fsencode(f"{name}={value}") for name, value in self.environment.items()]
        taken = len(text) + sum(len(v) + 1 for v in variables) + 8 * len(words + variables)
        if self.o.kernel != "linux" and taken > STACK_BYTES - STACK_OWN:
            raise PackError(f"the program's words and environment take {taken} bytes, with 8 for "
                            f"each; Vigil takes {STACK_BYTES - STACK_OWN} at most")
        files.put_bytes(WORDS, text)
        return True

    def write(self, files):
        """Writes the archive, unless there is one of the same contents. Returns its path."""
        folder = os.path.join(self.top, "build", "run")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, files.key() + ".tar")
        if os.path.exists(path):
            os.utime(path)
            return path
        self.say(f"packing {files.size() >> 20} MB")
        handle, name = tempfile.mkstemp(dir=folder, suffix=".new")
        try:
            with os.fdopen(handle, "wb") as file:
                files.write(file)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
        forget_old(folder, path)
        return path


def read_rest(size):
    """Returns what of standard input, a file, is not read yet: `size` bytes."""
    if size > BYTES_MAX:
        raise PackError(f"standard input has {size >> 20} MB, and {BYTES_MAX >> 20} MB are taken at "
                        "most")
    pieces = []
    while True:
        piece = os.read(0, PIECE)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)


def forget_old(folder, newest):
    """Removes archives that were not used for longest."""
    found = []
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name.endswith(".tar") and path != newest:
            found.append((os.path.getmtime(path), os.path.getsize(path), path))
    total = os.path.getsize(newest)
    for count, (_, size, path) in enumerate(sorted(found, reverse=True), 2):
        total += size
        if count > KEPT_COUNT or total > KEPT_BYTES:
            os.unlink(path)
