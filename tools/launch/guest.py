"""Boots a machine with a packed program, passes input and output on, and finds the exit status."""
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import console
import keyboard
import pack
import truth

CMDLINE_MAX = 4095
LINUX_CMDLINE_MAX = 2047
PIECE = 1 << 16
END_S = 5
TIMED_OUT, REFUSED = 124, 125
IMAGES = {"x86_64": "vigil.elf", "aarch64": "vigil.img"}
SOURCES = ("apps", "hpm", "kernel", "mm", "sched", "linker.ld", "Makefile")
BASE_MB, ROOM_MB = 512, 32


class GuestError(Exception):
    """The machine could not be started, or ended by itself."""


def quote(word):
    """Writes a word as the kernel reads it (kernel/lib/words.h)."""
    if word and not any(c in " \t\n\r;&'\"" for c in word):
        return word
    if not word:
        return "''"
    out, left = "", word
    while left:
        first = next((c for c in left if c in "'\""), "")
        mark = '"' if first == "'" else "'"
        piece = left.split(mark)[0]
        out += mark + piece + mark
        left = left[len(piece):]
    return out


def megabytes(size):
    """Returns the MB of a size in QEMU's words, rounded down."""
    unit = size[-1].lower()
    number = int(size.rstrip("kKmMgG"))
    return number >> 10 if unit == "k" else number << 10 if unit == "g" else number


def memory(o, archive_bytes):
    """Returns the machine's memory: as given, if the files fit, or enough for them."""
    files = (archive_bytes >> 20) + 1
    needed = files * (2 if o.kernel == "linux" else 1)
    if o.mem is None:
        return f"{BASE_MB + -(-needed // ROOM_MB) * ROOM_MB}M"
    if megabytes(o.mem) < needed + ROOM_MB:
        raise GuestError(f"--mem {o.mem}: the files alone take {needed} MB")
    return o.mem


class Guest:
    def __init__(self, top, o, packed, say):
        self.top, self.o, self.packed, self.say = top, o, packed, say
        self.keep = o.out is not None
        if self.keep:
            os.makedirs(o.out, exist_ok=True)
            self.out = os.path.realpath(o.out)
        else:
            self.out = tempfile.mkdtemp(prefix="vigil-run.")
        self.token = secrets.token_hex(16)
        self.process, self.began, self.ended = None, threading.Event(), False
        self.keyboard = None
        self.plugin = []  # options of the simulated machine

    # ---- What is started ----------------------------------------------------------------------

    def make(self, *targets):
        """Builds targets of the Makefile. Its output is shown if it fails."""
        self.say("building " + " ".join(targets))
        result = subprocess.run(["make", "-s", f"ARCH={self.packed.arch}", *targets], cwd=self.top,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, check=False)
        if result.returncode:
            tail = "\n".join(result.stdout.splitlines()[-20:])
            raise GuestError(f"make {' '.join(targets)} failed:\n{tail}")

    def kernel(self):
        """Returns Vigil's image, built if it is missing or older than its sources."""
        image = os.path.join("build", self.packed.arch, IMAGES[self.packed.arch])
        path = os.path.join(self.top, image)
        if not os.path.exists(path) or changed_since(self.top, os.path.getmtime(path)):
            self.make("kernel")
        return image

    def build_machine(self):
        """Installs QEMU and builds the simulated machine, unless they are there."""
        if not shutil.which("qemu-system-" + self.packed.arch):
            self.make("deps-run")
        built = [os.path.join(self.top, "build", "machine", name)
                 for name in ("machine.so", "topologies")]
        if self.o.machine != "qemu" and not all(os.path.exists(path) for path in built):
            self.make("machine")

    def boot_arguments(self):
        """Returns Vigil's command line."""
        o = self.o
        policies = o.policies()
        if any(word.startswith("mem.process=") for word in policies):
            policies_of_boot = ["swap=" + ("model" if o.machine != "qemu" else "virtio")]
        else:
            policies_of_boot = []
        words = ["@" + pack.WORDS] if self.packed.has_words else self.packed.words
        split = ["console.split=on", *self.terminal()]
        if o.share:
            split.append(f"share=share:{o.share[1]}={o.share[2]}")
        line = " ".join([*split, *policies_of_boot, *o.kernel_args.split(), "--", *policies,
                         *self.watching(), *map(quote, words)])
        if len(os.fsencode(line)) > CMDLINE_MAX:
            raise GuestError(f"boot arguments and the command have {len(os.fsencode(line))} "
                             f"characters; Vigil takes {CMDLINE_MAX} at most")
        return line

    def terminal(self):
        """Returns the boot arguments that describe the terminal here."""
        if not terminal():
            return [] if self.o.lines else ["console.terminal=off"]
        rows, columns = keyboard.window()
        return [*(["console.terminal=raw"] if keyboard.keys_wanted(self.o) else []),
                *([f"console.rows={rows}", f"console.columns={columns}"] if rows else [])]

    def watching(self):
        """Returns the words of watchd in front of the program, if a page is wanted."""
        web = self.o.web
        return ["watchd", f"port={web}", f"token={self.token}", "quiet=1", "&"] if web else []

    def network(self):
        """Returns the word for tools/qemu.sh that asks for a network, in a list."""
        ports = [p for p in (self.o.net or "").split(",") if p not in ("", "user")]
        if self.o.web:
            ports.append(f"{self.o.web}:{self.o.web}")
        return [",".join(["net=user", *ports])] if ports or self.o.net else []

    def vigil_command(self):
        o, line = self.o, self.boot_arguments()
        swaps = any(word.startswith("swap=") for word in line.split(" -- ")[0].split())
        words = ["tools/qemu.sh", f"kernel={self.kernel()}", f"initrd={self.packed.archive}",
                 f"append={line}"]
        if swaps and o.machine != "qemu":
            self.plugin.append(f"disk={self.mem}")
        elif swaps:
            disk = os.path.join(self.out, "swap.img")
            with open(disk, "wb") as file:
                file.truncate(megabytes(self.mem) << 20)
            words.append(f"drive={disk}")
        return words

    def linux_command(self, mark):
        command = os.path.join(self.out, "command")
        words = [self.packed.folder, self.packed.words[0], *self.packed.words]
        with open(command, "wb") as file:
            file.write(b"".join(os.fsencode(word) + b"\0" for word in words))
        return ["tools/linux-guest.sh", f"tree={self.packed.archive}", f"command={command}",
                f"mark={mark}",
                f"options={self.o.kernel_args}{'' if terminal() else ' VIGIL_PIPES=1'}"]

    # ---- The run ------------------------------------------------------------------------------

    def run(self):
        """Returns the exit status."""
        try:
            return self.run_in_out()
        finally:
            if self.keyboard:
                self.keyboard.restore()
            self.stop()
            if not self.keep:
                shutil.rmtree(self.out, ignore_errors=True)

    def run_in_out(self):
        o = self.o
        self.mem = memory(o, self.packed.size)
        self.build_machine()
        mark = secrets.token_hex(8) if o.kernel == "linux" else None
        self.plugin = [f"seed={o.seed}"] if o.seed else []
        words = self.linux_command(mark) if mark else self.vigil_command()
        words += [f"plugin={','.join(self.plugin)}"] if self.plugin else []
        words += [f"arch={self.packed.arch}", f"machine={o.machine}", f"mem={self.mem}",
                  f"out={self.out}", f"timeout={o.timeout or 0}"]
        words += [f"smp={o.smp}"] if o.smp else []
        words += self.network()
        words += [f"telemetry={o.telemetry}"] if o.telemetry else []
        words += [f"share={o.share[0]}:{o.share[1]}"] if o.share else []
        if self.keep:
            shutil.copyfile(self.packed.archive, os.path.join(self.out, "vigil.tar"))
        with open(os.path.join(self.out, "console.txt"), "wb") as log, \
                open(os.path.join(self.out, "errors.txt"), "w+b") as errors:
            kernel = console.KernelLines(log, b"watchd" if o.web else None)
            split = console.Split(self.write, self.write_error, kernel.feed,
                                  mark.encode() if mark else None)
            if o.web:
                print(f"vigil: the page is at http://127.0.0.1:{o.web}/ and its token, for knobs, "
                      f"is {self.token}", file=sys.stderr, flush=True)
            self.say(f"booting {'Linux' if mark else 'Vigil'} on {o.machine}")
            self.process = subprocess.Popen(words, cwd=self.top, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=errors,
                                            start_new_session=True)
            self.keyboard = keyboard.Keyboard(self.process.stdin.fileno(),
                                              keyboard.keys_wanted(o), not mark, kernel, self.end)
            self.keyboard.begin()
            if not self.packed.has_input:
                threading.Thread(target=self.pass_input, daemon=True).start()
            self.pass_output(split, kernel)
            code = self.process.wait()
            self.keyboard.restore()
            if self.ended:
                raise KeyboardInterrupt
            errors.seek(0)
            return self.finish(kernel, code, errors.read().decode("utf-8", "replace"))

    def write(self, data):
        """Passes on what the program writes. Once nothing reads it the run ends."""
        self.began.set()
        self.say(None)
        try:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            raise

    def write_error(self, data):
        """Passes on what the program writes to standard error, as far as something reads it."""
        self.began.set()
        self.say(None)
        try:
            sys.stderr.buffer.write(data)
            sys.stderr.buffer.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

    def pass_output(self, split, kernel):
        output = self.process.stdout.fileno()
        while True:
            data = os.read(output, PIECE)
            if not data:
                split.end()
                return
            split.feed(data)
            if kernel.begun or split.side != b"K":
                if not self.began.is_set():
                    self.say("running")
                self.began.set()
                self.keyboard.take_interrupts()

    def pass_input(self):
        """Passes input on, once the program runs: before that nothing would take it. Keys are
        passed on from the start: one of them ends the machine."""
        if not self.keyboard.keys:
            self.began.wait()
        self.keyboard.pass_on()

    def end(self):
        """Ends the machine from another thread."""
        self.ended = True
        os.killpg(self.process.pid, signal.SIGTERM)

    def finish(self, kernel, code, errors):
        self.say(None)
        if kernel.status is None:
            if code == TIMED_OUT:
                print(f"vigil: ended after {self.o.timeout} s", file=sys.stderr)
                return TIMED_OUT
            if code == REFUSED and errors.strip():
                raise GuestError(errors.strip().splitlines()[-1].partition(": ")[2])
            if kernel.refusal:
                raise GuestError(kernel.refusal)
            said = [line.decode("utf-8", "replace") for line in kernel.last[-12:] if line]
            raise GuestError("\n".join(["the machine ended before the program did",
                                        *said, *errors.splitlines()[-8:]]))
        if wants_report(self.o):
            truth.report(os.path.join(self.out, "truth.txt"), sys.stderr)
        return kernel.status

    def stop(self):
        """Ends the machine and all that was started for it."""
        if not self.process:
            return
        for kind in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, kind)
            except (ProcessLookupError, PermissionError):
                break
            until = time.monotonic() + END_S
            while time.monotonic() < until and self.process.poll() is None:
                time.sleep(0.02)
        self.process.wait()


def terminal():
    """Returns whether the program's output goes to a terminal here: then it sees one, too."""
    return sys.stdout.isatty()


def wants_report(o):
    if o.machine == "qemu":
        return False
    return sys.stderr.isatty() if o.report is None else o.report


def changed_since(top, when):
    """Returns whether a source of the kernel is newer."""
    for name in SOURCES:
        path = os.path.join(top, name)
        if os.path.isfile(path) and os.path.getmtime(path) > when:
            return True
        for folder, _, files in os.walk(path):
            if any(os.path.getmtime(os.path.join(folder, file)) > when for file in files
                   if not file.endswith((".md", ".mk", ".pyc"))):
                return True
    return False
