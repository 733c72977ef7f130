"""`./vigil phases`: when a program has become steady, over several boots."""
import os
import re
import shutil

import functions
import measure
import options

HELP = """\
usage: ./vigil phases [-r N] [-i REGEX] [-o FOLDER] [option of run ...] [--] PROGRAM [argument ...]
       ./vigil phases -f [-e COUNTS] [-b COMMAND] [-o FOLDER] [option of run ...] [--] PROGRAM ...

Says from which iteration on a program is steady, by the time and by the instructions of each
iteration, on standard error; draws both. With -f: which functions its phases are, what they wait
for, and when; of a bundled program, or one that was built for it (docs/use/phases.md).

  -r N        boots, with seeds of their own from --seed on  (1)
  -i REGEX    an iteration begins at each mark or printed line that this is found in  (the marks of
              the program that come most often)
  -f          phases by functions; the program runs three times
  -e COUNTS   of -f: up to 8 events, the first is cycles  (cycles, instructions, and where
              cycles were waited)
  -b COMMAND  of -f: builds PROGRAM anew, a Linux program, with flags for the compiler that are in
              $CALLS_FLAGS then
  -o FOLDER   where phases.svg, iterations.csv and each boot's trace go  (vigil.phases)

example: ./vigil phases -r 3 --smp 2 -- phases kind=sort size=300 rounds=60 marks=1
"""
RECORDED = "telemetry=quanta,marks{} telemetry.kb=1024"


def phases(top, words, say):
    wanted = measure.Wanted("phases", words, HELP)
    if wanted.functions:
        return functions.functions(top, wanted, say)
    if wanted.events or wanted.build:
        raise options.UsageError("-e, -b: go with -f")
    o = options.parse(wanted.run)
    if wanted.boots > 1 and o.machine == "qemu":
        raise options.UsageError("-r: plain QEMU has no seeds")
    try:
        re.compile(wanted.begin or "")
    except re.error as error:
        raise options.UsageError(f"-i {wanted.begin}: is no regular expression: {error}") from error
    folder = measure.written(o, wanted.output or "vigil.phases", True)
    o.kernel_args += " " + RECORDED.format(",lines" if wanted.begin else "")
    o.lines = bool(wanted.begin)
    first, status, parts = int(o.seed or 1), 0, []
    seeds = list(range(first, first + wanted.boots))
    for seed in seeds:
        o.seed = str(seed) if o.machine != "qemu" else None
        o.out = os.path.join(folder, f"seed-{seed}")
        os.makedirs(o.out, exist_ok=True)
        stream, trace = os.path.join(o.out, "stream"), os.path.join(o.out, "trace")
        shutil.rmtree(trace, ignore_errors=True)
        o.telemetry = os.path.realpath(stream)
        boot = measure.Boot(top, say, o, None)
        status = status or boot.status
        measure.tool_of_host(top, "trace_split.py", stream, trace)
        for path in (stream, os.path.join(o.out, "truth.txt")):  # they are long
            if os.path.exists(path):
                os.unlink(path)
        parts.append(trace)
    picture, table = (os.path.join(folder, name) for name in ("phases.svg", "iterations.csv"))
    said = measure.tool_of_host(
        top, "iterations.py", f"seeds={','.join(map(str, seeds))}", f"svg={picture}",
        f"csv={table}", *([f"begin={wanted.begin}"] if wanted.begin else []), *parts)
    lines = said.decode("utf-8", "replace").splitlines()
    for line in (*lines[:-1], f"vigil: wrote {picture}, {table}",
                 f"vigil: {boot.where(seeds)} boots={len(seeds)}", lines[-1]):
        measure.show(line)
    return status
