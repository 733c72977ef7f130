"""Events of a trace folder (tools/trace_split.py), as babeltrace2 reads them.

  for time_ns, name, cpu, fields in trace_events.Trace(folder): ...

fields has numbers, texts and, for enumerations, their names. Afterwards .complaints has
babeltrace2's messages, and .discarded the number of events it reports as discarded.
"""
import os
import re
import subprocess
import sys

EVENT = re.compile(r"\[(\d+)\] (\w+): \{ cpu_id = (\d+) \}(?:, \{ (.*) \})?$")
FIELD = re.compile(
    r'(\w+) = (?:"((?:[^"\\]|\\.)*)"|\( (?:"([^"]*)"|<unknown>) : container = (-?\d+) \)|(0x[0-9A-Fa-f]+|-?\d+))'
)
DISCARDED = re.compile(r"discarded (\d+) events?")
ESCAPED = re.compile(r"\\(.)")


def fields_of(text):
    fields = {}
    for key, string, name, number, plain in FIELD.findall(text or ""):
        if plain:
            fields[key] = int(plain, 0)
        elif number:
            fields[key] = name or int(number)
        else:
            fields[key] = ESCAPED.sub(r"\1", string)
    return fields


class Trace:
    def __init__(self, folder):
        self.folder = folder
        self.complaints = ""
        self.discarded = 0
        if not os.path.isfile(os.path.join(folder, "metadata")):
            sys.exit(
                f"trace: argument=FOLDER reason=value: {folder}: no trace's folder "
                "(tools/trace_split.py): it has no file metadata"
            )

    def __iter__(self):
        command = ["babeltrace2", "--clock-cycles", "--no-delta", self.folder]
        try:
            reader = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
        except FileNotFoundError:
            sys.exit("babeltrace2 is missing: install the package of that name")
        # Reads both pipes, so that neither fills up. Standard error is little.
        out, self.complaints = reader.communicate()
        self.discarded = sum(int(n) for n in DISCARDED.findall(self.complaints))
        for line in out.splitlines():
            m = EVENT.match(line)
            if not m:
                sys.exit(f"trace: {self.folder}: babeltrace2 printed what is no event: {line}")
            yield int(m[1]), m[2], int(m[3]), fields_of(m[4])
        if reader.returncode:
            sys.exit(f"trace: {self.folder}: babeltrace2 failed:\n{self.complaints}")


def environment(folder):
    """Returns the trace's description of the machine: architecture, cpu_chips."""
    with open(os.path.join(folder, "metadata")) as f:
        text = f.read()
    block = re.search(r"env \{(.*?)\};", text, re.S)
    return dict(re.findall(r'(\w+) = "([^"]*)";', block[1] if block else ""))
