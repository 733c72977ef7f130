"""Parts the text of a guest's console: what programs write, and the kernel's own lines.

Vigil (boot argument console.split): a byte 16 and 'P' begin text of programs, a byte 16 and 'E' what
they write to standard error, a byte 16 and 'K' text of the kernel; a byte 16 itself is doubled in
text of programs. What is typed has a byte 16 doubled, too; see kernel/file/keyboard.h. Linux (tools/linux-root.c): a byte 16, a text agreed on and the letter stand where
these change; the program's output is unchanged.
"""
import re

ESCAPE = 16


class Split:
    """Takes the console in pieces. `program`, `errors` and `kernel` are called with the parts."""

    def __init__(self, program, errors, kernel, mark=None):
        self.outputs = {b"P": program, b"E": errors, b"K": kernel}
        self.side, self.mark, self.rest = b"K", mark, b""

    def feed(self, data):
        data = self.rest + data
        self.rest = b""
        if self.mark:
            self.feed_marked(data)
        else:
            self.feed_escaped(data)

    def put(self, data):
        if data:
            self.outputs[self.side](data)

    def feed_escaped(self, data):
        at = 0
        while True:
            escape = data.find(ESCAPE, at)
            if escape < 0:
                self.put(data[at:])
                return
            self.put(data[at:escape])
            letter = data[escape + 1:escape + 2]
            if not letter:
                self.rest = data[escape:]
                return
            if letter in self.outputs:
                self.side = letter
            else:
                self.put(letter)
            at = escape + 2

    def feed_marked(self, data):
        """A mark may be cut in two by the pieces."""
        token = bytes([ESCAPE]) + self.mark
        at = 0
        while True:
            found = data.find(token, at)
            if found >= 0 and found + len(token) < len(data):
                self.put(data[at:found])
                self.side = data[found + len(token):found + len(token) + 1]
                if self.side not in self.outputs:
                    self.side = b"K"
                at = found + len(token) + 1
                continue
            keep = found if found >= 0 else len(data) - overlap(data, token)
            keep = max(keep, at)
            self.put(data[at:keep])
            self.rest = data[keep:]
            return

    def end(self):
        """Passes on what was kept back."""
        rest, self.rest = self.rest, b""
        self.put(rest)


def overlap(data, token):
    """Returns how many last bytes of `data` may begin a token."""
    for n in range(min(len(token) - 1, len(data)), 0, -1):
        if data.endswith(token[:n]):
            return n
    return 0


class KernelLines:
    """The kernel's lines: kept, and looked through for what a run needs to know."""

    EXIT = re.compile(rb"^exit: (?:.*\bapp=(\S+) )?(?:.* )?status=(\d+)\b")
    BEGUN = re.compile(rb"^(run|exit): ")
    REFUSED = b"boot: event=refused "
    INTERRUPT = b"console: event=interrupt"
    KEPT = 40

    def __init__(self, log, beside=None):
        """`beside`: name of a program that runs beside; its status does not matter."""
        self.log, self.line, self.last, self.beside = log, b"", [], beside
        self.status, self.begun, self.refusal = None, False, None
        self.interrupts = 0  # that the program has got

    def feed(self, data):
        self.log.write(data)
        self.log.flush()
        *lines, self.line = (self.line + data).split(b"\n")
        for line in lines:
            self.look(line.rstrip(b"\r"))

    def look(self, line):
        self.last = (self.last + [line])[-self.KEPT:]
        found = self.EXIT.match(line)
        if found and self.status is None and (not self.beside or found.group(1) != self.beside):
            self.status = int(found.group(2))
        if line.startswith(self.REFUSED):
            self.refusal = line[len(self.REFUSED):].decode("utf-8", "replace")
        if self.BEGUN.match(line):
            self.begun = True
        if line.startswith(self.INTERRUPT):
            self.interrupts += 1
