"""Types to a command on a terminal of its own, as a person would: typist.py STEPS COMMAND...

STEPS is a file. Its lines: `see TEXT` waits until TEXT was shown since the step before, or ends with
status 99; `type TEXT` types it, with Python's escapes; `size ROWS COLUMNS` changes the window;
`wait SECONDS`; `hangup` takes the terminal away and waits until the command and all that it started
have ended, or ends with status 99. What is shown goes to standard output. The status is the
command's.
"""
import fcntl
import glob
import os
import pty
import select
import struct
import sys
import termios
import time

PATIENCE_S = 90
MARK = f"TYPED_BY={os.getpid()}"


def resize(terminal, rows, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def started():
    """Returns the processes that run with MARK in their environment, but for zombies."""
    found = []
    for environment in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(environment, "rb") as f:
                if MARK.encode() in f.read().split(b"\0"):
                    found.append(int(environment.split("/")[2]))
        except OSError:  # it has ended, or is another user's
            pass
    return found


class Typist:
    def __init__(self, terminal):
        self.terminal, self.shown, self.ended = terminal, b"", False

    def look(self, seconds):
        """Shows what comes within a time. Returns whether something came."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.terminal, 4096)
        except OSError:
            data = b""
        self.ended = self.ended or not data
        self.shown += data
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return bool(data)

    def see(self, text):
        until = time.monotonic() + PATIENCE_S
        while text not in self.shown:
            if self.ended or time.monotonic() > until:
                sys.exit(f"\ntypist: '{text.decode()}' was not shown")
            self.look(0.1)
        self.shown = self.shown[self.shown.index(text) + len(text):]

    def hang_up(self):
        os.close(self.terminal)
        self.ended = True
        until = time.monotonic() + PATIENCE_S
        while left := started():
            if time.monotonic() > until:
                sys.exit(f"typist: processes are left: {left}")
            time.sleep(0.1)

    def step(self, line):
        verb, _, text = line.rstrip("\n").partition(" ")
        text = text.encode().decode("unicode_escape").encode("latin-1")
        if verb == "see":
            self.see(text)
        elif verb == "type":
            os.write(self.terminal, text)
        elif verb == "size":
            resize(self.terminal, *map(int, text.split()))
        elif verb == "wait":
            until = time.monotonic() + float(text)
            while time.monotonic() < until:
                self.look(0.1)
        elif verb == "hangup":
            self.hang_up()
        elif verb:
            sys.exit(f"typist: unknown step '{verb}'")


def main():
    child, terminal = pty.fork()
    if not child:
        resize(0, 30, 100)
        os.environ.update([MARK.split("=")])
        os.execvp(sys.argv[2], sys.argv[2:])
    typist = Typist(terminal)
    try:
        with open(sys.argv[1], encoding="utf-8") as steps:
            for line in steps:
                typist.step(line)
        while not typist.ended:
            typist.look(1)
    except SystemExit as error:
        print(error, file=sys.stderr)
        if not typist.ended:
            os.close(terminal)
        os.waitpid(child, 0)
        sys.exit(99)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) % 256)


main()
