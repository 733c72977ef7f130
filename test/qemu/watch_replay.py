#!/usr/bin/env python3
"""Serves watchd's page with a recording in place of a machine.

    watch_replay.py PAGE CONSOLE [PORT [MS]]

CONSOLE has what test/qemu/apps/watchask.c has printed of /events and /api/state. A reading is sent
every MS (200), over and over; 0: all at once, then nothing. The token is "recorded-token-1".
"""
import http.server
import json
import re
import sys
import threading
import time

TOKEN = "recorded-token-1"


# A line of others, which may stand behind any part of a long one.
OTHER = re.compile(r"((?:sharing|shmap|knob|process|exit|warehouse|scoreboard|watchd): [\w ]|"
                   r"RESULT app=|   ?[ \d-]\d? +\d+ \|).*\n")


def whole(text):
    """Returns the JSON that the text begins with; lines of others may stand in it, or None."""
    line = ""
    for _ in range(200):
        part, end, text = text.partition("\n")
        other = OTHER.search(part + end)
        line += part[:other.start()] if other else part
        try:
            json.loads(line)
            return line
        except ValueError:
            if not end:
                break
    return None


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read().replace("\r", "")
    found = [(m[1], whole(text[m.end():m.end() + 300000]))
             for m in re.finditer(r"^event: (\w+)\ndata: ", text, re.MULTILINE)]
    at = re.search(r'^\{"about"', text, re.MULTILINE)
    state = at and whole(text[at.start():at.start() + 300000])
    return [(name, data) for name, data in found if data], json.loads(state or '{"knobs":[]}')


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def log_message(self, *_):
        pass

    def reply(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/":
            with open(PAGE, "rb") as file:
                self.reply(200, "text/html; charset=utf-8", file.read())
        elif self.path == "/api/state":
            self.reply(200, "application/json", json.dumps(STATE).encode())
        elif self.path == "/events":
            self.stream()
        else:
            self.reply(404, "text/plain", b"not found\n")

    def stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        try:
            for name, data in EVENTS:
                self.wfile.write(f"event: {name}\ndata: {data}\n\n".encode())
                self.wfile.flush()
                time.sleep(MS / 1000 if name == "tick" else 0)
            while True:
                time.sleep(1)
                self.wfile.write(b":\n\n")
        except OSError:
            return

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        if self.headers.get("X-Vigil-Token") != TOKEN:
            self.reply(401, "text/plain", b"the header X-Vigil-Token is to be the token that the console shows\n")
            return
        name, _, value = body.partition("=")
        knob = next((k for k in STATE["knobs"] if k["name"] == name), None)
        m = knob and re.match(r"a number from (\d+) to (\d+)", knob["accepts"])
        if self.path == "/api/knob" and (not knob or m and not (
                value.isdigit() and int(m[1]) <= int(value) <= int(m[2]))):
            self.reply(400, "text/plain", f"argument={name} reason=range: '{value}' is not accepted\n".encode())
            return
        if knob:
            knob["value"] = value
        self.reply(200, "text/plain", (body + "\n").encode())


if __name__ == "__main__":
    PAGE = sys.argv[1]
    EVENTS, STATE = read(sys.argv[2])
    MS = int(sys.argv[4]) if len(sys.argv) > 4 else 200
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[3]) if len(sys.argv) > 3 else 0), Handler)
    server.daemon_threads = True
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        sys.stdin.read()  # until its standard input is closed
    except KeyboardInterrupt:
        pass
