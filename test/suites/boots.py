"""Runs a suite's programs in one kernel, in as many boots as it takes."""
import os
import re
import secrets
import select
import subprocess
import time

import console

CASE = re.compile(rb"^case: number=(\d+) (?:begins|status=(\d+))$")
END = b"case: end"
NO_FORK = re.compile(rb"^process: event=no_fork pid=\d+ ")
GRACE_S = 60  # of the host, beyond a program's time


class BootError(Exception):
    """A kernel does not run the programs at all."""


class Boots:
    """Results by number: a status, 'crash' (the machine ended) or 'hang'. Outputs by number.
    Numbers of programs that the kernel has refused to fork are in `forkless`."""

    def __init__(self, kernel, arch, options, top, out, archive, count, limit_s,
                 memory="1G"):
        self.kernel, self.arch, self.options, self.top, self.out = kernel, arch, options, top, out
        self.archive, self.count, self.limit_s = archive, count, limit_s
        self.results, self.outputs, self.forkless = {}, {}, set()
        self.memory, self.boots = memory, 0

    def command(self, first, mark):
        words = ["/runner", "/list", str(first), str(self.limit_s)]
        if self.kernel == "vigil":
            image = "vigil.elf" if self.arch == "x86_64" else "vigil.img"
            return ["tools/qemu.sh", f"kernel=build/{self.arch}/{image}", f"initrd={self.archive}",
                    "append=console.split=on console.terminal=off -- " + " ".join(words)]
        path = os.path.join(self.out, "command")
        with open(path, "wb") as file:
            file.write(b"".join(os.fsencode(word) + b"\0" for word in ["/", words[0], *words]))
        return ["tools/linux-guest.sh", f"tree={self.archive}", f"command={path}", f"mark={mark}",
                "options=VIGIL_PIPES=1"]

    def run(self):
        path = os.path.join(self.out, f"{self.kernel}-progress.txt")
        with open(path, "w", encoding="utf-8", buffering=1) as self.progress:
            return self.run_all()

    def run_all(self):
        first = 0
        while first < self.count:
            self.boots += 1
            self.at, self.done, self.line, self.message = None, first, b"", b""
            self.ended = False
            self.boot(first)
            if self.ended:
                break
            if self.at is None and self.done == first:
                raise BootError(f"{self.kernel} did not start: "
                                f"{self.out}/{self.kernel}-console.txt")
            # The one that was running is lost.
            lost = self.at if self.at is not None else self.done
            self.results.setdefault(lost, "hang" if self.stuck else "crash")
            first = lost + 1
        return self.results

    def boot(self, first):
        mark = secrets.token_hex(8) if self.kernel == "linux" else None
        words = [*self.command(first, mark), f"arch={self.arch}", "machine=qemu", f"mem={self.memory}",
                 f"out={self.out}", "timeout=0", *self.options]
        with open(os.path.join(self.out, f"{self.kernel}-console.txt"), "ab") as log:
            split = console.Split(self.feed, self.feed,
                                  lambda data: (log.write(data), log.flush(), self.hear(data)),
                                  mark.encode() if mark else None)
            process = subprocess.Popen(words, cwd=self.top, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=log, start_new_session=True)
            try:
                self.follow(process, split)
            finally:
                end_session(process)

    def follow(self, process, split):
        """Reads the console until the machine ends, or nothing has gone on for too long."""
        self.stuck, self.moved = False, time.monotonic()
        output = process.stdout.fileno()
        while not self.ended:
            if select.select([output], [], [], 1)[0]:
                data = os.read(output, 1 << 16)
                if not data:
                    break
                split.feed(data)
            elif time.monotonic() - self.moved > self.limit_s + GRACE_S:
                self.stuck = True
                return

    def feed(self, data):
        *lines, self.line = (self.line + data).split(b"\n")
        for line in lines:
            self.look(line.rstrip(b"\r"))

    def hear(self, data):
        """Looks at what the kernel says."""
        *lines, self.message = (self.message + data).split(b"\n")
        if self.at is not None and any(NO_FORK.match(line) for line in lines):
            self.forkless.add(self.at)

    def look(self, line):
        found = CASE.match(line)
        if line == END:
            self.ended = True
        elif not found:
            if self.at is not None and line:
                self.outputs.setdefault(self.at, []).append(line)
        else:
            self.moved = time.monotonic()
            number = int(found.group(1))
            if found.group(2) is None:
                self.at = number
            else:
                self.results[number] = found.group(2).decode()
                self.progress.write(f"{number} {self.results[number]}\n")
                self.at, self.done = None, number + 1


def end_session(process):
    """Ends the machine and the script that started it."""
    try:
        os.killpg(process.pid, 15)
        process.wait(10)
    except ProcessLookupError:
        pass
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
    process.wait()
