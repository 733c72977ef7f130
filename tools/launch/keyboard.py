"""What is typed: passed to the guest's console, with what its terminal cannot see from there.

kernel/file/keyboard.h describes the bytes. Linux's console gets what is typed, and nothing else.
"""
import os
import signal
import sys
import termios
import threading
import time
import tty

ESCAPE, INTERRUPT, WINDOW = b"\x10", b"I", b"W"
END_OF_INPUT = b"\4"
END_AGAIN_S = 0.5
PIECE = 1024
AGAIN_S, ANSWER_S = 1, 10  # a second Ctrl-C within; the first one unanswered for
LEAD, LEAVE = b"\1", b"xX"  # Ctrl-A and x


def keys_wanted(o):
    """Returns whether keys are to be passed on as they are pressed."""
    return o.shell and sys.stdin.isatty() and sys.stdout.isatty()


def window():
    """Returns rows and columns of the terminal here; 0, 0: there is none."""
    try:
        size = os.get_terminal_size(sys.stdout.fileno())
        return size.lines, size.columns
    except (OSError, ValueError):
        return 0, 0


class Keyboard:
    """Passes on what is typed to `guest`, a descriptor. `end` ends the machine."""

    def __init__(self, guest, keys, escapes, kernel, end):
        """`keys`: as they are pressed; `escapes`: the guest is Vigil; `kernel`: its lines."""
        self.guest, self.keys, self.escapes, self.kernel = guest, keys, escapes, kernel
        self.end, self.turn, self.lead, self.settings = end, threading.Lock(), False, None
        self.asked, self.takes = None, False  # when Ctrl-C was passed on last; whether it is

    # ---- The terminal here --------------------------------------------------------------------

    def begin(self):
        """Prepares the terminal, and takes its signals. In the main thread."""
        if self.escapes and sys.stdout.isatty():
            signal.signal(signal.SIGWINCH, self.resized)
        if self.keys:
            print("vigil: Ctrl-A, then x ends the machine", file=sys.stderr, flush=True)
            self.settings = termios.tcgetattr(0)
            tty.setraw(0)

    def restore(self):
        settings, self.settings = self.settings, None
        try:
            if settings:
                termios.tcsetattr(0, termios.TCSADRAIN, settings)
        except termios.error:  # the terminal has hung up
            pass

    def resized(self, *_):
        size = b"".join(min(n, 0xffff).to_bytes(2, "big") for n in window())
        self.tell(WINDOW + size)

    def take_interrupts(self):
        """Has Ctrl-C reach the program from now on, if its output is a terminal."""
        if not self.takes and self.escapes and sys.stdout.isatty():
            signal.signal(signal.SIGINT, self.interrupt)
        self.takes = True

    def interrupt(self, *_):
        now = time.monotonic()
        if self.asked is not None and now - self.asked < AGAIN_S:
            raise KeyboardInterrupt
        self.asked = now
        self.tell(INTERRUPT)
        threading.Thread(target=self.await_answer, args=(self.kernel.interrupts,),
                         daemon=True).start()

    def await_answer(self, before):
        """Ends the machine, unless it says that the program got the interrupt."""
        until = time.monotonic() + ANSWER_S
        while time.monotonic() < until:
            if self.kernel.interrupts > before:
                return
            time.sleep(0.05)
        self.end()

    # ---- To the guest -------------------------------------------------------------------------

    def write(self, data):
        with self.turn:
            for at in range(0, len(data), PIECE):
                piece = data[at:at + PIECE]
                while piece:
                    piece = piece[os.write(self.guest, piece):]

    def tell(self, message):
        """Writes a message, in a thread of its own: nothing may read there."""
        def write():
            try:
                self.write(ESCAPE + message)
            except OSError:
                pass
        threading.Thread(target=write, daemon=True).start()

    def pass_on(self):
        """Passes on standard input to its end, which is said again and again, ever more rarely: a
        terminal's lasts for one read, and is lost when the program changes the terminal's mode."""
        pause = END_AGAIN_S
        try:
            while True:
                data = os.read(0, PIECE)
                if not data:
                    self.write(END_OF_INPUT)
                    time.sleep(pause)
                    pause *= 2
                    continue
                data = self.without_lead(data) if self.keys else data
                if data is None:
                    self.end()
                    return
                self.write(data.replace(ESCAPE, ESCAPE * 2) if self.escapes else data)
        except OSError:
            return

    def without_lead(self, data):
        """Returns keys without those that are meant for this program; None: end the machine."""
        out = b""
        for key in (bytes([byte]) for byte in data):
            if self.lead:
                self.lead = False
                if key in LEAVE:
                    return None
                out += key if key == LEAD else LEAD + key
            elif key == LEAD:
                self.lead = True
            else:
                out += key
        return out
