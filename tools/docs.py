#!/usr/bin/env python3
"""
Checks README.md and the pages below docs/; of docs/results, which has its own form, only links.

  tools/docs.py                what `make lint` does: prints what is wrong, and fails
  tools/docs.py commands PAGE  commands of the page's `sh` blocks, for test/docs/commands.sh

A page has fewer than 300 lines and 100 columns; tables, fenced blocks and links may be wider.
Relative links lead to files that exist. README links every page. Each fenced block says what it is:

  sh             commands, run by `make test-docs`; a line is one, `\\` at its end goes on
  sh skip: WHY   commands that are not run, and the reason
  text           output; behind an `sh` block, of its last command: one of its lines must come again
  c, make        source

Blocks of indented lines are not used. Files named `like/this.c` exist; parts in capitals stand for
any name, as `*` does.

Each command is printed as: page:line, tab, reason for not running it (or -), tab, file of the
expected output (or -), tab, command.
"""
import glob
import os
import re
import sys
import tempfile

LINES, COLUMNS = 300, 100
KINDS = ("sh", "text", "c", "make")


def pages():
    found = ["README.md"]
    for folder, _, files in sorted(os.walk("docs")):
        if not folder.startswith("docs/results"):
            found += sorted(os.path.join(folder, f) for f in files if f.endswith(".md"))
    return found


def blocks(path):
    """Yields (kind, rest of the opening line, number of the first line, lines) for each fenced
    block, and (None, "", number, [line]) for each line outside of one."""
    fence = None
    for number, line in enumerate(open(path, encoding="utf-8").read().split("\n"), 1):
        text = line.strip()
        if fence:
            if text == "```":
                yield fence
                fence = None
            else:
                indent = fence[4]
                fence[3].append(line[indent:] if line[:indent].isspace() else line)
        elif text.startswith("```"):
            kind, _, rest = text[3:].partition(" ")
            fence = (kind, rest.strip(), number + 1, [], len(line) - len(line.lstrip()))
        else:
            yield (None, "", number, [line], 0)
    if fence:
        yield fence


def links(path, text):
    """Returns which files that the page names do not exist, as lines."""
    wrong = []
    for name in re.findall(r"`((?:apps|docs|hpm|kernel|mm|sched|test|tools)/[^\s`]*)`", text):
        if not glob.glob(re.sub(r"[A-Z]{2,}", "*", name)) and not re.search(r"[<>(){}:]", name):
            wrong.append(f"{path}: no such file: {name}")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        file = target.partition("#")[0]
        there = os.path.join(os.path.dirname(path), file)
        if "://" not in target and file and not os.path.exists(there):
            wrong.append(f"{path}: no such file: {target}")
    return wrong


def check(path):
    """Returns what is wrong with the page, as lines."""
    wrong = []
    text = open(path, encoding="utf-8").read()
    if text.count("\n") >= LINES:
        wrong.append(f"{path}: {text.count(chr(10))} lines: a page has fewer than {LINES}")
    blank = True
    for kind, rest, number, lines, _ in blocks(path):
        here = f"{path}:{number}"
        if kind is not None:
            if kind not in KINDS:
                wrong.append(f"{here}: block of kind '{kind}': expected one of {' '.join(KINDS)}")
            elif rest and not (kind == "sh" and re.match(r"skip: \S", rest)):
                wrong.append(f"{here}: '{rest}' behind {kind}: expected 'skip: WHY' behind sh")
            blank = False
            continue
        line = lines[0]
        if len(line) > COLUMNS and not line.lstrip().startswith("|") and "](" not in line:
            wrong.append(f"{here}: wider than {COLUMNS} columns")
        if blank and re.match(r"( {4}|\t)\S", line) and not inside_list(path, number):
            wrong.append(f"{here}: an indented block: use a fenced one")
        blank = not line.strip()
    return wrong + links(path, text)


def inside_list(path, number):
    """Returns whether the nearest line above that is not indented is an item of a list."""
    lines = open(path, encoding="utf-8").read().split("\n")[:number - 1]
    for line in reversed(lines):
        if line and not line[0].isspace():
            return bool(re.match(r"([-*]|\d+\.) ", line))
    return False


def commands(path):
    """Prints the commands of the page."""
    found = list(blocks(path))
    for i, (kind, rest, number, lines, _) in enumerate(found):
        if kind != "sh":
            continue
        behind = [b for b in found[i + 1:] if b[0] is not None or b[3][0].strip()][:1]
        output = "-"
        if behind and behind[0][0] == "text":
            with tempfile.NamedTemporaryFile("w", dir=os.environ.get("WORK"), delete=False) as f:
                f.write("\n".join(behind[0][3]) + "\n")
                output = f.name
        reason = rest.partition("skip: ")[2] or "-"
        said, command = [], ""
        for offset, line in enumerate(lines):
            if not command:
                start = number + offset
            if line.endswith("\\"):
                command += line[:-1]
                continue
            command += line
            if command.strip() and not command.lstrip().startswith("#"):
                said.append((start, command.strip()))
            command = ""
        for start, command in said:
            expected = output if command == said[-1][1] else "-"
            print(f"{path}:{start}\t{reason}\t{expected}\t{command}")


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "commands":
        commands(sys.argv[2])
        return 0
    if len(sys.argv) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    wrong = [line for path in pages() for line in check(path)]
    results = "docs/results/README.md"
    if os.path.exists(results):
        wrong += links(results, open(results, encoding="utf-8").read())
    index = open("README.md", encoding="utf-8").read()
    wrong += [f"README.md: its index lacks {p}" for p in pages()[1:] if f"]({p})" not in index]
    print("\n".join(wrong) if wrong else f"docs: {len(pages())} pages are short, narrow and linked")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
