#!/usr/bin/env python3
"""Who waited for whom: quanta of a trace folder (tools/trace_split.py) that was recorded with
telemetry=quanta.

  tools/quanta.py FOLDER [NAME=VALUE ...]

  from=MARK to=MARK  the critical path from one mark to another  (from the program's first quantum
                     to its last one's end)
  pid=N              the program whose path is shown  (the first)
  roles=FILE         roles of threads: lines 'ROLE PREFIX', by the beginning of a thread's name
  stopped=A by=B     times when threads of role B ran, and none of role A, though some live
  least_us=N         ... that are at least so long  (0)
  json=FILE          writes a timeline for ui.perfetto.dev
  svg=FILE           writes violins: the parts of the cycles of each role's quanta

Exit status: 0; 1: quanta do not add up to their threads' totals; 2: arguments.
"""
import json
import signal
import sys

import quanta_model
import quanta_path
import quanta_views
import trace_events

NAMES = ["from", "to", "pid", "roles", "stopped", "by", "least_us", "json", "svg"]


def refuse(argument, reason, text):
    print(f"quanta: argument={argument} reason={reason}: {text}", file=sys.stderr)
    sys.exit(2)


def arguments(words):
    if not words or words[0] in ("help", "-h", "--help"):
        print(__doc__.strip())
        sys.exit(0 if words else 2)
    options = {}
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if not equals or name not in NAMES:
            refuse(word, "unknown", f"accepted are {'=, '.join(NAMES)}=")
        options[name] = value
    for name in ("pid", "least_us"):
        if name in options and not options[name].isdigit():
            refuse(name, "value", f"'{options[name]}' is not accepted; a number is expected")
    if ("stopped" in options) != ("by" in options):
        refuse("stopped" if "by" in options else "by", "missing", "stopped= and by= go together")
    return words[0], options


def read_roles(options):
    if "roles" not in options:
        return quanta_model.Roles()
    try:
        with open(options["roles"]) as f:
            return quanta_model.Roles(f.read())
    except (OSError, ValueError) as e:
        refuse("roles", "value", str(e))


def check(recording):
    """Prints whether quanta add up. Returns 1 if they do not."""
    wrong, over = quanta_model.conservation(recording), quanta_model.overlaps(recording)
    names = ", ".join(recording.names + ["ran", "waited"])
    lives = [life for life in recording.lives if life.total or life.quanta]
    good = len(lives) - len({id(w[0]) for w in wrong if w[0] in lives})
    print(f"conservation: {good} of {len(lives)} threads' quanta add up to their totals: {names}")
    for life, name, n, total in wrong[:10]:
        if life in lives:
            print(f"  not equal: {life.name} {life.tid} {name}: quanta {n}, total {total}")
    for a, b in over[:10]:
        print(f"  overlap: {a.life.name} {a.life.tid} until {a.end}, {b.life.name} {b.life.tid} "
              f"from {b.start}")
    bad = good != len(lives) or over
    if bad and recording.discarded:
        print(f"  {recording.discarded} events were discarded: raise telemetry.kb")
    return 1 if bad else 0


def frequency_lines(recording):
    """Returns what is known of CPUs' frequencies, as lines of text."""
    lines = []
    for cpu, changes in sorted(recording.frequencies.items()):
        mhz = [khz / 1000 for _, khz, _ in changes]
        lines.append(f"frequency: cpu={cpu} told={len(mhz)} mhz=" +
                     ",".join(f"{n:.1f}" for n in mhz[:8]) + (",..." if len(mhz) > 8 else ""))
    if not lines or "cycles" not in recording.names:
        return lines
    by_trace, by_reference, by_clock = quanta_model.rebuilt(recording)
    if by_clock:
        lines.append(f"frequency: time of quanta: clock={by_clock:.0f} ns, cycles and frequencies "
                     f"{100 * (by_trace / by_clock - 1):+.4f} %" +
                     (f", reference {100 * (by_reference / by_clock - 1):+.4f} %"
                      if recording.reference_hz else ""))
    return lines


def find_mark(recording, option, text):
    found = [(ns, tid) for ns, tid, label in recording.marks if label == text]
    if not found:
        refuse(option, "value", f"there is no mark '{text}' (telemetry=marks records them)")
    return found[-1] if option == "to" else found[0]


def show_path(recording, options):
    """Prints the critical path. Returns its parts."""
    pids = [life.pid for life in recording.lives if life.pid and life.quanta]
    pid = int(options.get("pid", pids[0] if pids else 0))
    mine = [life for life in recording.lives if life.pid == pid and life.quanta]
    if not mine:
        refuse("pid", "value", f"no thread of process {pid} ran")
    if not recording.every_quantum():
        print("critical path: not known: several quanta are recorded as one (trace.every, "
              "trace.cycles, or late ones)")
        return []
    begin = min(q.ready for life in mine for q in life.quanta)
    last = max((q for life in mine for q in life.quanta), key=lambda q: q.end)
    life, end = last.life, last.end
    if "from" in options:
        begin = find_mark(recording, "from", options["from"])[0]
    if "to" in options:
        end, tid = find_mark(recording, "to", options["to"])
        life = recording.life_at(tid, end)
    if end <= begin:
        refuse("to", "value", "the path's end is not behind its beginning")
    parts = quanta_path.critical_path(life, begin, end)
    assert sum(p.ns for p in parts) == end - begin
    by_kind = {k: sum(p.ns for p in parts if p.kind == k) for k in quanta_path.KINDS}
    print(f"critical path: ns={end - begin} parts={len(parts)} " +
          " ".join(f"{k.replace(' ', '_')}={n}" for k, n in by_kind.items()))
    for (of, kind), ns in list(quanta_path.path_sums(parts).items())[:12]:
        print(f"  {ns / 1e6:10.6f} ms {100 * ns / (end - begin):5.1f} %  {of.name} {of.tid}: {kind}")
    return parts


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the reader may stop early
    folder, options = arguments(sys.argv[1:])
    roles = read_roles(options)
    recording = quanta_model.Recording(trace_events.Trace(folder))
    quanta = recording.all_quanta()
    if not quanta:
        refuse("FOLDER", "value", f"{folder} has no quanta: record with telemetry=quanta")
    mode = f"each {recording.cycles} cycles" if recording.cycles else f"every {recording.every}"
    print(f"quanta: recorded={sum(q.quanta for q in quanta)} events={len(quanta)} told={mode} "
          f"wakes={recording.wakes()} threads={len(recording.lives)} discarded={recording.discarded}")
    status = check(recording)
    print("\n".join(quanta_views.role_table(recording, roles) + frequency_lines(recording)))
    much = quanta_views.much_back_end(recording, roles)
    if much:
        print(f"back end > {quanta_views.BACK_END_MUCH} %: " +
              ", ".join(f"{role} {n:.0f} % of cycles" for role, n in much.items()))
    parts = show_path(recording, options)
    stopped = []
    if "by" in options:
        stopped = quanta_path.pauses(
            recording, lambda life: roles.of(life) == options["stopped"],
            lambda life: roles.of(life) == options["by"], 1000 * int(options.get("least_us", 0)),
        )
        lengths = [b - a for a, b in stopped]
        print(f"stopped: role={options['stopped']} by={options['by']} times={len(stopped)} "
              f"ns={sum(lengths)} longest={max(lengths, default=0)}")
    if "json" in options:
        events = quanta_views.perfetto(recording, parts, stopped)
        with open(options["json"], "w") as f:
            json.dump({"traceEvents": events, "displayTimeUnit": "ns",
                       "otherData": {"events_discarded": recording.discarded}}, f)
    if "svg" in options:
        with open(options["svg"], "w") as f:
            f.write(quanta_views.svg(recording, roles))
    sys.exit(status)


if __name__ == "__main__":
    main()
