#!/usr/bin/env python3
"""Checks that the variable of each boot argument is called like the argument.

    tools/check_args.py FILE.c ...

In a table `const struct arg NAME[]` the variable of `mem.space_ids` is `mem_space_ids`. The variable
of an argument of one word, such as `console`, is `console_wanted`. A member of a structure is called
like what follows the first '.': `faults.seed` holds `disk.seed`.
Exit status 0; 1: a name differs, or a row could not be read; 2: a file cannot be read.
"""
import re
import sys

TABLE = re.compile(r"const struct arg \w+\[\]\s*=\s*\{(.*?)\n\};", re.DOTALL)
ROW = re.compile(r'\{\s*(?:\.name = )?"([^"]+)",\s*(?:\.type = )?ARG_\w+,\s*(?:\.value = )?&([\w.]+)')


def expected(argument, variable):
    first, dot, rest = argument.partition(".")
    if not dot:
        return first + "_wanted"
    if "." in variable:
        return variable.partition(".")[0] + "." + rest.replace(".", "_")
    return argument.replace(".", "_")


def check(path):
    """Returns the number of rows of the file's tables that are wrong, and the number read."""
    wrong = read = 0
    with open(path, encoding="ascii") as file:
        tables = TABLE.findall(file.read())
    for table in tables:
        rows = ROW.findall(table)
        read += len(rows)
        names = len(re.findall(r'^    \{(?:\.name = )?"', table, re.MULTILINE))
        if len(rows) != names:
            print(f"{path}: {names} boot arguments, of which {len(rows)} could be read")
            wrong += 1
        for argument, variable in rows:
            name = expected(argument, variable)
            if variable != name:
                print(f"{path}: boot argument {argument}: its variable is {variable}: call it "
                      f"{name}")
                wrong += 1
    return wrong, read


def main(paths):
    try:
        results = [check(path) for path in paths]
    except OSError as error:
        print(f"check_args.py: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    if not sum(read for _, read in results):
        print("check_args.py: no boot argument found", file=sys.stderr)
        return 2
    return 1 if any(wrong for wrong, _ in results) else 0


sys.exit(main(sys.argv[1:]))
