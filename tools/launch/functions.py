"""`./vigil phases -f`: phases by functions, of a program whose calls are recorded."""
import os
import platform
import shutil
import subprocess
import sys

import measure
import options

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
import calls_model  # noqa: E402

COUNTS = "cycles,instructions,STALL:ICACHE!,STALL:BRANCH!,STALL:DCACHE!,STALL:TLB!"
FOLDER = "/.vigil-calls"


class Builder:
    """Builds a program in three ways, by flags of the compiler: one of Vigil's by make, or another
    by a command of the user's; without a command the program stays as it is."""

    FLAGS = {"plain": "-Wl,-u,__cyg_profile_func_enter", "instrumented": "-finstrument-functions",
             "selected": "-finstrument-functions -finstrument-functions-exclude-function-list="}

    def __init__(self, top, arch, name, folder, command):
        self.top, self.arch, self.name, self.folder = top, arch, name, folder
        self.command = command
        self.ours = "/" not in name and os.path.isdir(os.path.join(top, "apps", "workloads", name))
        if command and self.ours:
            raise options.UsageError(f"-b: {name} is built by make")

    def can(self):
        """Returns whether there are other builds than the one that was given."""
        return self.ours or bool(self.command)

    def build(self, way, excluded=""):
        """Returns the program's path."""
        if not self.can():
            return self.name
        if self.ours:
            path = os.path.join(self.top, "build", self.arch, way, self.name)
            if way == "selected":  # by other flags than last time
                shutil.rmtree(os.path.dirname(path), ignore_errors=True)
            self.done(["make", "-s", f"ARCH={self.arch}", f"CALLS_EXCLUDE={excluded}",
                       os.path.relpath(path, self.top)], self.top, {})
            return path
        self.done(["sh", "-c", self.command], None, {"CALLS_FLAGS": self.FLAGS[way] + excluded})
        path = os.path.join(self.folder, f"{os.path.basename(self.name)}.{way}")
        shutil.copy(self.name, path)
        return path

    @staticmethod
    def done(words, folder, env):
        """Runs a command; its output is shown if it fails."""
        result = subprocess.run(words, cwd=folder, check=False, stdin=subprocess.DEVNULL, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                env={**os.environ, **env})
        if result.returncode:
            raise measure.MeasureError("\n".join([f"{' '.join(words)} failed",
                                                  *result.stdout.splitlines()[-10:]]))


def place_selected(program, files):
    """Writes the places of selected functions in another build of the program."""
    with open(files["selected"], encoding="utf-8") as f:
        wanted = {line.split()[1] for line in f}
    with open(program, "rb") as f:
        places = calls_model.Names(f.read()).places(wanted)
    with open(files["selected"], "w", encoding="utf-8") as f:
        f.writelines(f"{at:x}\n" for at in places)


class Recorder:
    """Boots programs that record calls into files of a folder."""

    def __init__(self, top, run, say, folder, counts):
        self.top, self.run, self.say, self.folder, self.counts = top, run, say, folder, counts

    def record(self, command, name, *env):
        """Returns the boot of a program that writes the file `name`, and the file's path."""
        o = options.parse([*self.run, "--", *command])
        path, out = os.path.join(self.folder, name), os.path.join(self.folder, "boot")
        if os.path.exists(path):
            os.unlink(path)
        o.env = [*o.env, f"VIGIL_CALLS={FOLDER}/{name}", f"VIGIL_CALLS_COUNTS={self.counts}", *env]
        o.share = (self.folder, "rw", FOLDER)
        o.kernel_args += " hpm.breakdown=off"
        o.out = out
        boot = measure.Boot(self.top, self.say, o, None)
        shutil.rmtree(out, ignore_errors=True)
        if not os.path.exists(path):
            raise measure.MeasureError(f"{command[0]} recorded no calls: it is to be built with "
                                       "-finstrument-functions (docs/use/phases.md)")
        return boot, path


def functions(top, wanted, say):
    """Runs a program with all calls recorded, with those of the selected functions, and without
    instrumentation."""
    o = options.parse(wanted.run)
    if wanted.boots > 1 or wanted.begin:
        raise options.UsageError("-f: goes without -r and -i")
    if o.machine == "qemu":
        raise options.UsageError("-f: plain QEMU has no counters of the hardware")
    if o.share:
        raise options.UsageError("--share: phases -f has a folder of its own")
    folder = os.path.realpath(measure.written(o, wanted.output or "vigil.phases", True))
    run = [w for w in wanted.run[:len(wanted.run) - len(o.command)] if w != "--"]
    (name, *words), arch = o.command, o.arch or platform.machine()
    builder = Builder(top, arch, name, folder, wanted.build)
    recorder = Recorder(top, run, say, folder, wanted.events or COUNTS)
    files = {kind: os.path.join(folder, kind) for kind in ("selected", "excluded")}
    program = builder.build("instrumented")
    boot, calls = recorder.record([program, *words], "calls")
    tool = ["calls.py", f"program={program}", f"calls={calls}"]
    measure.tool_of_host(top, *tool, f"select={files['selected']}", f"exclude={files['excluded']}")
    if builder.can():
        with open(files["excluded"], encoding="utf-8") as f:
            program = builder.build("selected", f.read())
        place_selected(program, files)
        tool.append(f"rerun={program}")
    boot, only = recorder.record([program, *words], "only", f"VIGIL_CALLS_ONLY={FOLDER}/selected")
    if builder.can():
        _, plain = recorder.record([builder.build("plain"), *words], "plain",
                                   "VIGIL_CALLS_ONLY=/dev/null")
        tool.append(f"plain={plain}")
    picture = os.path.join(folder, "functions.svg")
    said = measure.tool_of_host(top, *tool, f"only={only}", f"svg={picture}")
    for line in said.decode("utf-8", "replace").splitlines():
        measure.show(line)
    measure.show(f"vigil: wrote {picture}; calls are in {calls}, {only}")
    measure.show(f"vigil: {boot.where([int(o.seed or 1)])}")
    return boot.status
