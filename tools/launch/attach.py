"""`./vigil attach`: looks at a machine that runs watchd, and controls it, by HTTP.

docs/use/watch.md lists the requests. What is printed is a line of KEY=VALUE for each thing, or JSON.
"""
import http.client
import json
import os
import re
import shlex
import sys
import time

import options

HELP = """\
usage: ./vigil attach HOST:PORT [option ...] COMMAND [argument ...]

Looks at a machine in which watchd runs (make run WEB=1, ./vigil run --web PORT), and controls it.

  list                 its processes, and the runs that were started from outside
  programs             programs of its bundle, which can be started by their name
  run [NAME=VALUE ...] PROGRAM [argument ...]
                       start a program, one at a time, after setting these knobs; print its output
                       as it comes, and exit with its status. Ctrl-C leaves it running
  start ...            the same, but print the number of the run and do not wait
  wait [RUN]           print a run's output from its beginning, and exit with its status
  stop [PID]           end the program that was started, or any process
  output [RUN]         what a run has written until now; without a number: the latest run
  results [RUN]        its RESULT lines
  knobs [NAME ...]     boot arguments that can change, or those named
  set NAME=VALUE ...   change them
  get PATH             any answer as it is: /metrics, /api/state, /debug/pprof/profile?seconds=1

  --token TOKEN        what allows to start, stop and set; default: the variable VIGIL_TOKEN
  --json               of list, start, knobs: print JSON
  --timeout S          seconds to wait until the machine answers  (60)

The exit status is 0, that of the program for run and wait, and 125 with a line if the machine does
not answer or refuses.
"""

POLL_S, PATIENCE_S = 0.2, 2
OPTIONS = {"token": None, "timeout": "60"}


class AttachError(Exception):
    """The machine does not answer, or refuses."""


class Machine:
    """The watchd at a host and port."""

    def __init__(self, place, token, timeout):
        host, colon, port = place.rpartition(":")
        if not colon or not host or not port.isdigit() or not 1 <= int(port) <= 65535:
            raise options.UsageError(f"attach {place}: expected HOST:PORT")
        self.place, self.host, self.port = place, host.strip("[]"), int(port)
        self.token, self.timeout = token, timeout

    def ask(self, method, path, body=None, within=None):
        """Returns the answer's status and bytes. Raises OSError or HTTPException."""
        connection = http.client.HTTPConnection(self.host, self.port,
                                                timeout=within or self.timeout)
        headers = {"X-Vigil-Token": self.token} if self.token else {}
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def wait(self):
        """Waits until the machine answers. While it boots QEMU accepts connections, and nothing may
        ever be said on these: so it is asked again, each time with twice the patience."""
        until, patience = time.monotonic() + self.timeout, PATIENCE_S
        while True:
            try:
                return self.ask("GET", "/api/runs", within=min(patience, self.timeout))
            except (OSError, http.client.HTTPException) as error:
                if time.monotonic() >= until:
                    raise self.no_answer(error) from error
            time.sleep(POLL_S)
            patience *= 2

    def no_answer(self, error):
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return AttachError(f"attach {self.place}: no answer: {why}")

    def call(self, method, path, body=None):
        """Returns the bytes of an answer with status 200."""
        try:
            status, answer = self.ask(method, path, body)
        except (OSError, http.client.HTTPException) as error:
            raise self.no_answer(error) from error
        if status == 401 and not self.token:
            raise AttachError(f"attach {self.place}: no token was given: --token or VIGIL_TOKEN is to "
                              "be the one that the machine's console shows")
        if status != 200:
            said = answer.decode("utf-8", "replace").strip()
            raise AttachError(f"attach {self.place}: {method} {path}: {said} (HTTP {status})")
        return answer

    def get_json(self, path):
        return json.loads(self.call("GET", path))


# ---- What is printed -----------------------------------------------------------------------------

def pairs(kind, **values):
    """Prints a line of KEY=VALUE."""
    print(kind, " ".join(f"{key}={shlex.quote(str(value))}" for key, value in values.items()))


def print_run(run):
    pairs("run", number=run["number"], pid=run["pid"], running="yes" if run["running"] else "no",
          status="-" if run["running"] else run["status"], ms=run["ms"],
          output_bytes=run["output_bytes"], output_left_out=run["output_left_out"],
          command=run["command"])


def print_process(process, tick):
    run_us = sum(t["run_us"] for t in tick["threads"] if t["pid"] == process["pid"])
    sharing = process["sharing"]
    pairs("process", pid=process["pid"], name=process["name"], threads=process["threads"],
          cpus=f"{run_us / 1000 / max(tick['since_ms'], 0.001):.2f}",
          resident_bytes=process["memory"]["resident"],
          remote_permille=sharing["remote_permille"] if sharing else "-",
          clusters=sharing["map"]["clusters"] if sharing and sharing["map"] else "-")


def show_list(machine, words, as_json):
    no_more("list", words)
    tick, runs = machine.get_json("/api/state")["tick"], machine.get_json("/api/runs")
    if as_json:
        print(json.dumps({"processes": tick["processes"], "runs": runs}))
        return
    for process in tick["processes"]:
        print_process(process, tick)
    for run in runs:
        print_run(run)


def show_knobs(machine, words, as_json):
    knobs = machine.get_json("/api/state")["knobs"]
    unknown = set(words) - {knob["name"] for knob in knobs}
    if unknown:
        raise AttachError(f"attach {machine.place}: knobs {' '.join(sorted(unknown))}: no such boot "
                          "argument")
    knobs = [k for k in knobs if (k["name"] in words if words else k["live"] != "boot")]
    if as_json:
        print(json.dumps(knobs))
        return
    for k in knobs:
        pairs("knob", name=k["name"], value=k["value"], live=k["live"], accepts=k["accepts"])


# ---- Commands ------------------------------------------------------------------------------------

def no_more(command, words):
    if words:
        raise options.UsageError(f"attach: {command}: unexpected word '{words[0]}'")


def number_of(command, words):
    """Returns the number in the words, 0 if there is none."""
    if words and not re.fullmatch(r"[1-9]\d{0,8}", words[0]):
        raise options.UsageError(f"attach: {command} {words[0]}: expected a number")
    no_more(command, words[1:])
    return int(words[0]) if words else 0


def start(machine, command, words):
    """Starts a program. Returns the number of its run."""
    if not words:
        raise options.UsageError(f"attach: {command}: no program is named")
    for word in words:
        if not word or "\n" in word or "\0" in word:
            raise options.UsageError(f"attach: {command}: a word that is empty, or has the end of a "
                                     "line, cannot be passed on")
    body = "\n".join(words) if len(words) > 1 else words[0]
    answer = machine.call("POST", "/api/run", body.encode()).decode()
    return int(re.search(r"run=(\d+)", answer)[1])


def run_of(machine, number):
    """Returns what is known of a run, 0: of the latest."""
    runs = machine.get_json("/api/runs")
    for run in reversed(runs):
        if number in (0, run["number"]):
            return run
    raise AttachError(f"attach {machine.place}: " + (
        f"run {number}: it is not remembered; list shows those that are" if number else
        "no program was started from outside"))


def follow(machine, number):
    """Prints the output of a run until it ends. Returns its exit status."""
    at = 0
    number = run_of(machine, number)["number"]
    while True:
        run = run_of(machine, number)
        if run["output_left_out"] > at:
            print(f"vigil: attach: {run['output_left_out'] - at} bytes of output were left out",
                  file=sys.stderr)
            at = run["output_left_out"]
        if run["output_bytes"] > at:
            piece = machine.call("GET", f"/api/output?run={number}&from={at}")
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
            at += len(piece)
        elif not run["running"]:
            return run["status"] & 255
        else:
            time.sleep(POLL_S)


def run_program(machine, words, _):
    return follow(machine, start(machine, "run", words))


def start_program(machine, words, as_json):
    number = start(machine, "start", words)
    run = run_of(machine, number)
    if as_json:
        print(json.dumps(run))
    else:
        print_run(run)


def stop(machine, words, _):
    pid = number_of("stop", words)
    machine.call("POST", "/api/stop", f"pid={pid}".encode() if pid else b"")


def set_knobs(machine, words, _):
    if not words:
        raise options.UsageError("attach: set: expected NAME=VALUE ...")
    for word in words:
        machine.call("POST", "/api/knob", word.encode())


def put(path):
    """Returns a command that prints an answer about a run as it is."""
    def command(machine, words, _):
        number = run_of(machine, number_of(path, words))["number"]
        sys.stdout.buffer.write(machine.call("GET", f"/api/{path}?run={number}"))
    return command


def programs(machine, words, _):
    no_more("programs", words)
    sys.stdout.buffer.write(machine.call("GET", "/api/programs"))


def get(machine, words, _):
    if len(words) != 1 or not words[0].startswith("/"):
        raise options.UsageError("attach: get: expected a path, such as /metrics")
    sys.stdout.buffer.write(machine.call("GET", words[0]))


def wait(machine, words, _):
    return follow(machine, number_of("wait", words))


COMMANDS = {"list": show_list, "programs": programs, "run": run_program, "start": start_program,
            "wait": wait, "stop": stop, "output": put("output"), "results": put("results"),
            "knobs": show_knobs, "set": set_knobs, "get": get}


def parse(words):
    """Returns the place, the options and the command's words."""
    given, as_json, rest, words = dict(OPTIONS), False, [], list(words)
    while words and (len(rest) < 1 or words[0].startswith("--")):
        word = words.pop(0)
        name, equals, value = word[2:].partition("=")
        if word == "--json":
            as_json = True
        elif word.startswith("--") and name in OPTIONS:
            if not equals and not words:
                raise options.UsageError(f"--{name}: its value is missing")
            given[name] = value if equals else words.pop(0)
        elif word.startswith("--"):
            raise options.UsageError(f"unknown option '{word}'; ./vigil help attach lists them")
        else:
            rest.append(word)
    if not rest:
        raise options.UsageError("attach: expected HOST:PORT")
    if not words:
        raise options.UsageError("attach: no command is given; ./vigil help attach lists them")
    if words[0] not in COMMANDS:
        raise options.UsageError(f"attach: unknown command '{words[0]}'; expected one of "
                                 f"{' '.join(COMMANDS)}")
    if not re.fullmatch(r"[1-9]\d{0,5}", given["timeout"]):
        raise options.UsageError(f"--timeout {given['timeout']}: expected a number of seconds")
    return rest[0], given, as_json, words


def attach(words):
    """Does what the words say. Returns the exit status."""
    place, given, as_json, words = parse(words)
    if words[1:2] == ["--json"]:
        as_json = True
        del words[1]
    token = given["token"] if given["token"] is not None else os.environ.get("VIGIL_TOKEN", "")
    machine = Machine(place, token, int(given["timeout"]))
    machine.wait()
    return COMMANDS[words[0]](machine, words[1:], as_json) or 0
