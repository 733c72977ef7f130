"""The programs of a conformance suite: which there are, and how they are built."""
import concurrent.futures
import fnmatch
import glob
import os
import shutil
import subprocess

# Compiler, dynamic linker, and where the compiler's libraries lie in the guest.
COMPILERS = {"x86_64": ("gcc", "lib64/ld-linux-x86-64.so.2"),
             "aarch64": ("aarch64-linux-gnu-gcc", "lib/ld-linux-aarch64.so.1")}
LIBRARIES = ("libc.so.6", "libm.so.6", "libgcc_s.so.1", "libcrypt.so.1", "libresolv.so.2")
JOBS = 2
LOCALE = "/usr/lib/locale/C.utf8"

POSIX_AREAS = {
    "threads": ("pthread_*",),
    "semaphores": ("sem_*",),
    "signals": ("sig*", "raise", "kill", "killpg"),
    "timers": ("timer_*", "clock*", "nanosleep", "time", "difftime", "mktime"),
    "scheduling": ("sched_*",),
    "memory": ("mmap", "munmap", "mlock*", "munlock*", "msync"),
}
LIBC_AREAS = ("functional", "regression", "math")
# What some programs of libc-test are linked with besides (its own .mk files).
LIBC_LINKED = {"crypt": ["-lcrypt"], "dlopen": ["-rdynamic"],
               "tls_align": ["-l:tls_align_dso.so", "-Wl,-rpath,$ORIGIN"],
               "tls_get_new-dtv": ["-Wl,-rpath,$ORIGIN"]}


class SuiteError(Exception):
    """The suite cannot be built."""


class Program:
    """One program: its name, area, sources and options."""

    def __init__(self, name, area, words, shared=False):
        self.name, self.area, self.words, self.shared = name, area, words, shared


def object_of(source, folder):
    """Returns where the object file of a source that all programs share is kept."""
    return os.path.join(folder, os.path.basename(source)[:-2] + ".o")


class Posix:
    """Open POSIX Test Suite, by its folder conformance/interfaces."""

    name = "posix"
    libraries = ("-lpthread", "-lrt", "-lm")

    def __init__(self, folder):
        nested = os.path.join(folder, "testcases", "open_posix_testsuite")
        self.folder = nested if os.path.isdir(nested) else folder
        self.tests = os.path.join(self.folder, "conformance", "interfaces")
        if not os.path.isdir(self.tests):
            raise SuiteError(f"dir={folder}: has no conformance/interfaces")
        self.common = glob.glob(os.path.join(self.folder, "lib", "common.c"))
        self.options = ["-std=c99", "-D_POSIX_C_SOURCE=200809L", "-D_XOPEN_SOURCE=700",
                        "-I" + os.path.join(self.folder, "include")]

    def programs(self):
        for interface in sorted(os.listdir(self.tests)):
            area = next((a for a, names in POSIX_AREAS.items()
                         if any(fnmatch.fnmatch(interface, n) for n in names)), None)
            sources = glob.glob(os.path.join(self.tests, interface, "*-*.c"))
            for source in sorted(sources):
                if not area or "buildonly" in source or not has_main(source):
                    continue
                name = f"{interface}/{os.path.basename(source)[:-2]}"
                yield Program(name, area, [source])


class LibcTest:
    """libc-test, by its folder src."""

    name = "libc-test"
    libraries = ("-lpthread", "-lm", "-lrt", "-ldl", "-lresolv", "-lutil")

    def __init__(self, folder):
        self.folder = os.path.join(folder, "src")
        if not os.path.isdir(os.path.join(self.folder, "functional")):
            raise SuiteError(f"dir={folder}: has no src/functional")
        common = os.path.join(self.folder, "common")
        self.common = sorted(set(glob.glob(os.path.join(common, "*.c"))) -
                             {os.path.join(common, "runtest.c")})
        self.options = ["-std=c99", "-D_POSIX_C_SOURCE=200809L", "-D_FILE_OFFSET_BITS=64",
                        "-fno-builtin", "-frounding-math", "-I" + common]

    def programs(self):
        for area in LIBC_AREAS:
            sources = glob.glob(os.path.join(self.folder, area, "*.c"))
            # Libraries first: a program may be linked with one.
            for source in sorted(sources, key=lambda s: (not s.endswith("_dso.c"), s)):
                name = os.path.basename(source)[:-2]
                if name.endswith("_dso"):
                    yield Program(f"{area}/{name}.so", area,
                                  [source, "-shared", "-fPIC", "-DSHARED"], True)
                else:
                    yield Program(f"{area}/{name}", area, [source, *LIBC_LINKED.get(name, ())])


SUITES = {suite.name: suite for suite in (Posix, LibcTest)}


def read_exceptions(suite, arch, top):
    """Returns (pattern, reason) of each exception that holds for the instruction set. A line `=
    REASON` stands in front of lines of patterns; PATTERN@ARCH holds for one only."""
    rows, reason = [], None
    with open(os.path.join(top, "test", "suites", f"{suite}.txt"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("="):
                reason = line[1:].strip()
            elif not line.startswith("#"):
                for word in line.split():
                    pattern, _, only = word.partition("@")
                    if only in ("", arch):
                        rows.append((pattern, reason))
    return rows


def has_main(source):
    with open(source, encoding="latin-1") as file:
        return "main(" in file.read()


def compile(words):
    """Returns the compiler's complaint, or None."""
    result = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, check=False)
    return result.stdout.decode(errors="replace") if result.returncode else None


def build_common(suite, compiler, folder):
    """Compiles what all programs are linked with. Returns the object files."""
    os.makedirs(folder, exist_ok=True)
    objects = []
    for source in suite.common:
        objects.append(object_of(source, folder))
        why = compile([compiler, "-O2", "-w", "-c", "-o", objects[-1], *suite.options, source])
        if why:
            raise SuiteError(f"{source} cannot be built:\n{why}")
    return objects


def build(suite, wanted, arch, root, log):
    """Builds into the guest's tree. Returns the programs that could be built; the compiler's
    complaints about others are in the log."""
    compiler = COMPILERS[arch][0]
    objects = build_common(suite, compiler, os.path.join(os.path.dirname(log), "common"))

    def build_one(program):
        out = os.path.join(root, "src", program.name)
        os.makedirs(os.path.dirname(out), exist_ok=True)
        if os.path.exists(out):
            return None
        return compile([compiler, "-O2", "-w", "-s", "-L" + os.path.dirname(out), "-o", out,
                        *suite.options, *program.words,
                        *([] if program.shared else [*objects, *suite.libraries])])

    built = []
    with open(log, "w", encoding="utf-8") as file, \
            concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for shared in (True, False):
            part = [p for p in wanted if p.shared == shared]
            for p, why in zip(part, pool.map(build_one, part)):
                if why:
                    file.write(f"---- {p.name}\n{why}")
                elif not shared:
                    built.append(p)
    return built


def add_libraries(arch, root):
    """Copies the dynamic linker and libraries into the guest's tree."""
    compiler, interpreter = COMPILERS[arch]
    for name in (os.path.basename(interpreter), *LIBRARIES):
        path = subprocess.run([compiler, "-print-file-name=" + name], capture_output=True,
                              text=True, check=True).stdout.strip()
        if not os.path.isabs(path):
            continue
        to = interpreter if name == os.path.basename(interpreter) else os.path.join("lib", name)
        os.makedirs(os.path.dirname(os.path.join(root, to)), exist_ok=True)
        shutil.copyfile(os.path.realpath(path), os.path.join(root, to))
        os.chmod(os.path.join(root, to), 0o755)


def add_locale(root):
    """Copies the locale C.UTF-8, which glibc reads from files, if this machine has them."""
    if os.path.isdir(LOCALE):
        shutil.copytree(LOCALE, root + LOCALE, dirs_exist_ok=True)


def build_runner(arch, top, root):
    subprocess.run([COMPILERS[arch][0], "-std=gnu11", "-O2", "-s", "-static", "-pthread", "-Wall",
                    "-Wextra", "-Werror", "-I" + top, "-o", os.path.join(root, "runner"),
                    os.path.join(top, "test", "suites", "runner.c")], check=True)
