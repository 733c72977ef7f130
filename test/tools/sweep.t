#!/usr/bin/env python3
"""./vigil sweep and gather, as TAP for prove, with a program in place of ./vigil that prints what it
was given. Nothing is booted."""
import contextlib
import csv
import io
import os
import shutil
import subprocess
import sys
import tempfile
import traceback

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(TOP, "tools", "launch"))
sys.dont_write_bytecode = True

import options  # noqa: E402
import sweep  # noqa: E402

WORK = tempfile.mkdtemp(prefix="vigil-sweep.")
FAKE = """#!/bin/sh
echo run >>"%s/calls"
[ ! -e "%s/broken" ] || [ "$(cat "%s/broken")" != "$(echo "$*" | grep -o 'seed=[0-9]*')" ] || exit 3
seed=$(echo "$*" | sed -n 's/.* seed=\\([0-9]*\\).*/\\1/p')
case $* in *=cluster*) base=200 ;; *) base=100 ;; esac
echo "text before"
echo "RESULT app=a speed=$((base + seed)) seed=$seed words='$*' check=ok"
"""


def top_of(name):
    """Returns a folder with a program `vigil`."""
    top = os.path.join(WORK, name)
    os.makedirs(top)
    with open(os.path.join(top, "vigil"), "w", encoding="utf-8") as f:
        f.write(FAKE % (top, top, top))
    os.chmod(os.path.join(top, "vigil"), 0o755)
    return top


def calls(top):
    with open(os.path.join(top, "calls"), encoding="utf-8") as f:
        return len(f.readlines())


def quiet(call, *args):
    """Returns the call's result, and what it printed."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        result = call(*args)
    return result, text.getvalue()


def rows_of(out):
    with open(os.path.join(out, "results.csv"), encoding="utf-8") as f:
        return list(csv.DictReader(f))


def refused(kind, word, call, *args):
    try:
        quiet(call, *args)
    except kind as error:
        assert word in str(error), f"'{word}' is missing in: {error}"
        return
    raise AssertionError(f"{kind.__name__} expected")


def words(out, *more):
    return ["--out", out, *more, "--vary", "sched.policy=default,cluster", "--seeds", "3", "--",
            "/bin/prog", "seed={seed}"]


def each_combination_is_run_once_with_its_values():
    top, out = top_of("a"), os.path.join(WORK, "a.out")
    status, text = quiet(sweep.sweep, top, words(out, "--smp", "4"), lambda _: None)
    assert status == 0 and "runs=6 done=6 failed=0" in text, text
    rows = rows_of(out)
    assert [(r["sched.policy"], r["seed"], r["speed"]) for r in rows] == [
        (p, str(s), str(b + s)) for p, b in (("default", 100), ("cluster", 200)) for s in (1, 2, 3)]
    assert "--smp" in open(os.path.join(out, "jobs.txt"), encoding="utf-8").read()
    assert calls(top) == 6


def what_has_succeeded_is_not_run_again():
    top, out = top_of("b"), os.path.join(WORK, "b.out")
    with open(os.path.join(top, "broken"), "w", encoding="utf-8") as f:
        f.write("seed=2\n")
    status, text = quiet(sweep.sweep, top, words(out), lambda _: None)
    assert status == 1 and "done=4 failed=2" in text, text
    assert [r["status"] for r in rows_of(out)].count("3") == 2
    os.remove(os.path.join(top, "broken"))
    before = calls(top)
    status, text = quiet(sweep.sweep, top, words(out), lambda _: None)
    assert status == 0 and "done=6 failed=0" in text, text
    assert calls(top) == before + 2


def a_folder_has_one_sweep():
    top, out = top_of("c"), os.path.join(WORK, "c.out")
    quiet(sweep.sweep, top, words(out), lambda _: None)
    refused(sweep.SweepError, "another sweep", sweep.sweep, top, words(out, "--mem", "1G"),
            lambda _: None)


def medians_have_intervals_and_a_picture():
    top, out = top_of("d"), os.path.join(WORK, "d.out")
    quiet(sweep.sweep, top, words(out), lambda _: None)
    status, text = quiet(sweep.gather, [out, "--plot", "speed"])
    lines = [line.split() for line in text.split("\n") if line.startswith("sched.policy")]
    assert status == 0 and lines == [["sched.policy=default", "3", "102", "101", "103"],
                                     ["sched.policy=cluster", "3", "202", "201", "203"]], text
    with open(os.path.join(out, "speed.svg"), encoding="utf-8") as f:
        assert "<svg" in f.read()
    refused(sweep.SweepError, "nothing=", sweep.gather, [out, "--plot", "nothing"])


def a_batch_script_runs_what_has_not_succeeded():
    top, out = top_of("e"), os.path.join(WORK, "e.out")
    _, text = quiet(sweep.sweep, top, words(out, "--slurm"), lambda _: None)
    assert "6 runs" in text and not os.path.exists(os.path.join(top, "calls"))
    for n in (2, 5, 2):
        subprocess.run(["sh", os.path.join(out, "array.sbatch")], check=True,
                       env={**os.environ, "SLURM_ARRAY_TASK_ID": str(n)})
    assert calls(top) == 2
    quiet(sweep.gather, [out])
    assert [r["run"] for r in rows_of(out)] == ["2", "5"]


def an_array_goes_on_with_what_has_failed():
    top, out = top_of("h"), os.path.join(WORK, "h.out")
    script = os.path.join(out, "array.sbatch")
    broken = os.path.join(top, "broken")

    def tasks():
        for n in range(1, 7):
            subprocess.run(["bash", script], check=True,
                           env={**os.environ, "SLURM_ARRAY_TASK_ID": str(n)})
    quiet(sweep.sweep, top, words(out, "--slurm"), lambda _: None)
    subprocess.run(["bash", "-n", script], check=True)
    with open(script, encoding="utf-8") as f:
        assert "#SBATCH --array=1-6\n" in f.read()
    with open(broken, "w", encoding="utf-8") as f:
        f.write("seed=2\n")
    tasks()
    assert calls(top) == 6 and sorted(set(sweep.statuses(out).values())) == [0, 3]
    os.remove(broken)
    tasks()
    assert calls(top) == 8 and set(sweep.statuses(out).values()) == {0}
    status, _ = quiet(sweep.gather, [out])
    assert status == 0 and [r["run"] for r in rows_of(out)] == [str(n) for n in range(1, 7)]


FAKE_SSH = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do [ "$1" != -l ] || shift; shift; done
host=$1
shift
[ "$1" != -- ] || shift
[ ! -e "%s/$host.down" ] || exit 255
echo "$host" >>"%s/hosts"
exec sh -c "$*"
"""


def with_ssh(top, call, *args):
    """Calls with a program `ssh` that runs its commands here and notes the host."""
    path = os.path.join(top, "bin")
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, "ssh"), "w", encoding="utf-8") as f:
        f.write(FAKE_SSH % (top, top))
    os.chmod(os.path.join(path, "ssh"), 0o755)
    before = dict(os.environ)
    os.environ["PATH"] = path + ":" + before["PATH"]
    os.environ.pop("SHELL", None)  # as in a service or a job
    try:
        return quiet(call, *args)
    finally:
        os.environ.update(before)


def hosts_of(out):
    with open(os.path.join(out, "joblog"), encoding="utf-8") as f:
        return {line.split("\t")[1] for line in f.readlines()[1:]}


def hosts_share_the_runs_and_their_output_comes_back():
    top, out = top_of("i"), os.path.join(WORK, "i.out")
    status, text = with_ssh(top, sweep.sweep, top, words(out, "--ssh", "one,two,:"), lambda _: None)
    assert status == 0 and "runs=6 done=6 failed=0" in text, text
    assert hosts_of(out) == {"one", "two", ":"}, hosts_of(out)
    assert [r["speed"] for r in rows_of(out)] == ["101", "102", "103", "201", "202", "203"]


def a_host_that_does_not_answer_has_failed_runs_that_are_run_again():
    top, out = top_of("j"), os.path.join(WORK, "j.out")
    with open(os.path.join(top, "two.down"), "w", encoding="utf-8"):
        pass
    status, text = with_ssh(top, sweep.sweep, top, words(out, "--ssh", "one,two"), lambda _: None)
    assert status == 1 and "failed=0" not in text and "event=failed run=" in text, text
    os.remove(os.path.join(top, "two.down"))
    status, text = with_ssh(top, sweep.sweep, top, words(out, "--ssh", "one,two"), lambda _: None)
    assert status == 0 and "runs=6 done=6 failed=0" in text, text
    assert calls(top) == 6


def machines_are_values_as_others_are():
    top, out = top_of("k"), os.path.join(WORK, "k.out")
    quiet(sweep.sweep, top, ["--out", out, "--vary", "machine=openpower720,openpower-8chip",
                             "--vary", "threads=4,8", "--seeds", "2", "--", "/bin/prog",
                             "threads={threads}", "seed={seed}"], lambda _: None)
    rows = rows_of(out)
    assert [(r["machine"], r["threads"], r["seed"]) for r in rows] == [
        (m, t, s) for m in ("openpower720", "openpower-8chip") for t in "48" for s in "12"]
    with open(os.path.join(out, "jobs.txt"), encoding="utf-8") as f:
        assert sum("--machine openpower-8chip" in line for line in f) == 4


def what_cannot_be_run_is_refused_before_anything_runs():
    bad = options.UsageError
    out = os.path.join(WORK, "f.out")
    for word, given in (("--out DIR", ["--vary", "machine=a", "--", "/bin/true"]),
                        ("nowhere", ["--out", out, "--vary", "nowhere=1", "--", "/bin/true"]),
                        ("--vary x", ["--out", out, "--vary", "x", "--", "/bin/true"]),
                        ("--vary x=1,,2", ["--out", out, "--vary", "x=1,,2", "--", "/bin/true"]),
                        ("--seeds 0", ["--out", out, "--seeds", "0", "--", "/bin/true"]),
                        ("its value", ["--out"]),
                        ("--smp x", ["--out", out, "--vary", "smp=x", "--", "/bin/true"]),
                        ("--seed", ["--out", out, "--seed", "1", "--", "/bin/true"]),
                        ("no program", ["--out", out, "--seeds", "2"])):
        refused(bad, word, sweep.sweep, WORK, given, lambda _: None)
    assert not os.path.exists(out)
    refused(bad, "DIR", sweep.gather, [])
    refused(sweep.SweepError, "no folder of a sweep", sweep.gather, [WORK])


def words_reach_the_program_whole():
    top, out = top_of("g"), os.path.join(WORK, "g.out")
    quiet(sweep.sweep, top, ["--out", out, "--", "/bin/prog", "a 'b' $c", "seed={seed}"], lambda _: None)
    with open(os.path.join(out, "1.out"), encoding="utf-8") as f:
        assert "a 'b' $c seed=1" in f.read()


def intervals_hold_as_often_as_they_say():
    draw, inside = __import__("random").Random(3), 0
    for _ in range(200):
        low, high = sweep.interval([draw.gauss(0, 1) for _ in range(15)])
        inside += low <= 0 <= high
    assert 175 <= inside <= 200, inside


TESTS = [each_combination_is_run_once_with_its_values, what_has_succeeded_is_not_run_again,
         a_folder_has_one_sweep, medians_have_intervals_and_a_picture,
         a_batch_script_runs_what_has_not_succeeded, an_array_goes_on_with_what_has_failed,
         hosts_share_the_runs_and_their_output_comes_back,
         a_host_that_does_not_answer_has_failed_runs_that_are_run_again,
         machines_are_values_as_others_are,
         what_cannot_be_run_is_refused_before_anything_runs, words_reach_the_program_whole,
         intervals_hold_as_often_as_they_say]

failed = 0
print(f"1..{len(TESTS)}")
for number, test in enumerate(TESTS, 1):
    try:
        test()
        print(f"ok {number} - {test.__name__.replace('_', ' ')}")
    except Exception:  # each test is on its own
        failed += 1
        print(f"not ok {number} - {test.__name__.replace('_', ' ')}")
        print("# " + traceback.format_exc().replace("\n", "\n# "))
shutil.rmtree(WORK, ignore_errors=True)
sys.exit(failed != 0)
