"""The words of `./vigil run`, and its help."""
import os
import re
import shlex

HELP = """\
usage: ./vigil run [option ...] [--] PROGRAM [argument ...]
       ./vigil shell [option ...] [-- SHELL [argument ...]]
       ./vigil sweep --out DIR [option ...] -- PROGRAM [argument ...]
       ./vigil gather DIR [--plot KEY]
       ./vigil attach HOST:PORT COMMAND [argument ...]
       ./vigil stat|record|top|mem|trace|phases|c2c|list|compare ...
       ./vigil help [COMMAND]

`run` starts a Linux program in Vigil, on a simulated multiprocessor. `shell` starts a shell there,
in which programs are typed. `sweep` runs it once for each combination of values; `gather` puts the
results together. `attach` controls a machine that runs. The others measure a program: `stat`
counts, `record` and `top` sample, `mem` tells of its memory, `trace` of its threads, `phases` of when it
is steady, `list` of what can be counted; `compare` compares two reports of `stat`. `./vigil help stat` and so on list their
options and have an example; docs/use/run.md, measure.md, sweep.md and watch.md explain them.
`make help` lists what else there is.
"""

HELP_RUN = """\
usage: ./vigil run [option ...] [--] PROGRAM [argument ...]

Starts a program, an ELF file for x86-64 or AArch64 or a script, in Vigil on a machine of its own,
with the files that it needs. Its output goes to standard output and its exit status is that of
this command: 128 and the signal's number if a signal ended it, 124 after --timeout, 125 if Vigil
itself failed, 126 and 127 if the program could not be started.

where
  --machine NAME       the simulated machine; qemu: no simulation  (openpower720)
  --arch ARCH          x86_64 or aarch64; not given: the program's
  --smp N              CPUs  (all of the machine's)
  --mem SIZE           memory, such as 2G  (512M, and room for the files)
  --seed N             of the machine's random choices: how long CPUs' turns last  (1)
  --kernel KERNEL      vigil, or linux: Debian's, with the same files  (vigil)
  --kernel-args TEXT   boot arguments of the kernel
  --policy K=V,...     Vigil's policies for the program: sched=cluster, mem=lirs, prefetch=streams,
                       goal=fairness, memory=64M (and a disk to swap to), or any boot argument

what
  --deb PKG            Debian packages and all that they depend on, for the program's instruction
                       set; may be given again
  --root DIR           a folder that is the program's root
  --file PATH          a file or folder to take along; files named as arguments are
  --cwd                take the whole working directory along
  --share DIR[:ro|:rw][=/PATH]
                       a folder of this host that the program sees at /share, or at PATH, as it is
                       then; read-only unless :rw
  --env NAME=VALUE     a variable of its environment; --env NAME: as it is here
  --beside COMMAND     a server that runs beside the program, and is ended behind it
  --await PLACE        the path of the server's socket, or its TCP port: the program starts as soon
                       as a connection is accepted there
  --net PORT:PORT,...  a network; a port of this host, on 127.0.0.1, leads to one of the machine.
                       --net user: a network without such ports. From inside this host is 10.0.2.2
  --web PORT           a page about the run, at that port of this host on 127.0.0.1, by watchd, which
                       runs beside the program: what to open is said on standard error

how
  --timeout S          seconds after which the run is ended
  --report             print what the hardware saw, on standard error, also where that is no
                       terminal; --no-report: never
  --out DIR            keep the kernel's console, the machine's ground truth and the archive there
"""

HELP_SHELL = """\
usage: ./vigil shell [option ...] [-- SHELL [argument ...]]

Starts a shell in Vigil, bash unless SHELL is another, with Debian's usual tools and Vigil's own
(hpmstat, hpmrec, hpmtop, memstat, workloads): one program after the other, without another boot.
Keys go to the machine as they are pressed: Ctrl-C and Ctrl-Z reach the program in front. Ctrl-A and
then x end the machine, Ctrl-A twice is Ctrl-A. The exit status is the shell's.

Options are those of `./vigil run`, but --kernel, --beside and --await.
"""

# Of `shell`: what is looked for at a prompt.
SHELL = "bash"
SHELL_PACKAGES = ("bash", "coreutils", "dash", "findutils", "grep", "less", "mawk", "ncurses-base",
                  "procps", "sed", "util-linux")

VALUED = ("machine", "arch", "smp", "mem", "seed", "kernel", "kernel-args", "policy", "deb", "root", "file",
          "env", "timeout", "out", "share", "beside", "await", "net",
          "web")
REPEATED = ("policy", "deb", "file", "env")
FLAGS = ("cwd", "report", "no-report")
SHARE_PATH_MAX = 64  # kernel/fs/share.c
SHORT_POLICIES = {"sched": "sched.policy", "mem": "mem.policy", "memory": "mem.process",
                  "prefetch": "mem.prefetch", "goal": "mem.goal", "tracker": "mem.tracker"}


class UsageError(Exception):
    """The command line is wrong."""


class Options:
    """The options of a run; `command` is the program and its arguments."""

    def __init__(self):
        self.machine, self.arch, self.smp, self.mem = "openpower720", None, None, None
        self.kernel, self.kernel_args, self.policy, self.seed = "vigil", "", [], None
        self.deb, self.root, self.file, self.cwd, self.env = [], None, [], False, []
        self.timeout, self.out, self.report, self.command = None, None, None, []
        self.beside, self.await_, self.net, self.web = None, None, None, None
        self.share = None  # (folder, "ro" or "rw", path) once checked
        self.front = []  # a tool of Vigil's and its arguments, which starts the program
        self.telemetry = None  # the file that the machine's telemetry goes to
        self.lines = False  # output goes out line by line, as to a terminal
        self.shell = False  # keys are passed on as they are pressed

    def policies(self):
        """Returns the boot arguments that --policy stands for."""
        out = []
        for word in ",".join(self.policy).split(","):
            key, equals, value = word.partition("=")
            if not word:
                continue
            if not equals or not value:
                raise UsageError(f"--policy {word}: expected NAME=VALUE")
            key = SHORT_POLICIES.get(key, key)
            if "." not in key:
                raise UsageError(f"--policy {word}: expected one of "
                                 f"{' '.join(SHORT_POLICIES)}, or a boot argument's name")
            out.append(f"{key}={value}")
        return out


def parse(words, command=None):
    """Returns the options in `words`; `command`: what is started if they name no program."""
    o, words = Options(), list(words)
    while words:
        word = words.pop(0)
        if word == "--":
            break
        if not word.startswith("--"):
            words.insert(0, word)
            break
        name, equals, value = word[2:].partition("=")
        if name in FLAGS and not equals:
            set_flag(o, name)
            continue
        if name not in VALUED:
            raise UsageError(f"unknown option '{word}'; ./vigil help run lists them")
        if not equals:
            if not words:
                raise UsageError(f"--{name}: its value is missing")
            value = words.pop(0)
        set_value(o, name, value)
    o.command = words or command
    check(o)
    return o


def parse_shell(words):
    """Returns the options of `./vigil shell`."""
    o = parse(words, [SHELL])
    for name, given in (("--kernel", o.kernel != "vigil"), ("--beside", o.beside)):
        if given:
            raise UsageError(f"{name}: `shell` goes without")
    o.shell = True
    o.deb = [*o.deb, *SHELL_PACKAGES]
    o.env = ["TERM=" + os.environ.get("TERM", "linux"), *o.env]
    return o


def set_flag(o, name):
    if name == "cwd":
        o.cwd = True
    else:
        o.report = name == "report"


def set_value(o, name, value):
    attribute = name.replace("-", "_") + ("_" if name == "await" else "")
    if name in REPEATED:
        parts = value.replace(",", " ").split() if name == "deb" else [value]
        getattr(o, attribute).extend(parts)
    else:
        setattr(o, attribute, value)


def share_of(text):
    """Returns the folder, access and path of --share."""
    match = re.fullmatch(r"(.*?)(?::(ro|rw))?(?:=(/[^\s:=]+))?", text, re.DOTALL)
    folder, access, path = match.group(1), match.group(2) or "ro", match.group(3) or "/share"
    if not os.path.isdir(folder):
        raise UsageError(f"--share {text}: {folder}: no such folder")
    if len(path) >= SHARE_PATH_MAX:
        raise UsageError(f"--share {text}: {path}: longer than {SHARE_PATH_MAX - 1} characters")
    return os.path.realpath(folder), access, path


def words_of(text):
    """Returns the words of a command, as a shell takes them."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--beside {text}: {error}") from error
    if not words:
        raise UsageError("--beside: no program is named")
    if "--" in words:
        raise UsageError(f"--beside {text}: a word '--' cannot be passed on")
    return words


def check(o):
    """Refuses values that nothing can be done with."""
    if not o.command:
        raise UsageError("no program is named; ./vigil help run explains")
    if o.arch not in (None, "x86_64", "aarch64"):
        raise UsageError(f"--arch {o.arch}: expected x86_64 or aarch64")
    if o.kernel not in ("vigil", "linux"):
        raise UsageError(f"--kernel {o.kernel}: expected vigil or linux")
    if o.kernel == "linux" and o.policy:
        raise UsageError("--policy: Linux has none of Vigil's policies")
    if o.share is not None:
        o.share = share_of(o.share)
    if o.beside is not None:
        o.beside = words_of(o.beside)
    if (o.beside is None) != (o.await_ is None):
        raise UsageError("--beside and --await: each needs the other")
    if o.await_ is not None and not re.fullmatch(r"/.{1,100}|[1-9]\d{0,4}", o.await_):
        raise UsageError(f"--await {o.await_}: expected a socket's path or a port")
    if o.kernel == "linux" and o.share:
        raise UsageError("--share: Debian's kernel for clouds, which --kernel linux boots, has no 9P")
    if o.kernel == "linux" and o.net:
        raise UsageError("--net: under Linux the machine gets no network")
    if o.kernel == "linux" and o.web:
        raise UsageError("--web: watchd runs under Vigil only")
    if o.web is not None and not (o.web.isdigit() and 1 <= int(o.web) <= 65535):
        raise UsageError(f"--web {o.web}: expected a port, 1 to 65535")
    for name, pattern, what in (("net", r"user|[1-9]\d{0,4}:[1-9]\d{0,4}(,[1-9]\d{0,4}:[1-9]\d{0,4})*",
                                 "user, or PORT:PORT,..."),
                                ("smp", r"[1-9]\d*", "a number of CPUs, at least 1"),
                                ("mem", r"[1-9]\d*[kKmMgG]?", "a size, such as 512M or 2G"),
                                ("seed", r"[1-9]\d{0,17}", "a number, at least 1"),
                                ("timeout", r"[1-9]\d*", "a number of seconds, at least 1")):
        value = getattr(o, name)
        if value is not None and not re.fullmatch(pattern, value):
            raise UsageError(f"--{name} {value}: expected {what}")
    if o.seed is not None and o.machine == "qemu":
        raise UsageError("--seed: plain QEMU makes no random choices of its own")
    for word in o.env:
        if not re.match(r"[A-Za-z_]\w*(=|\Z)", word):
            raise UsageError(f"--env {word}: expected NAME=VALUE")
        if "\n" in word:
            raise UsageError(f"--env {word.split('=')[0]}: its value has more than one line")
    o.policies()
