#!/usr/bin/env python3
"""Checks the records of a tool on a console: json and csv of the same columns, values within their
limits, nothing where nothing is known.  Arguments: console, tool, kinds that there must be,
KIND.COLUMN that must be empty in some record, `limits`: some values have them."""
import sys

import records


def main(path, tool, *words):
    found = records.read(path, tool)
    limited = records.check(found)
    kinds = found["json"]
    for word in words:
        if word == "limits":
            assert limited, "there are no limits"
        elif "." in word:
            kind, column = word.split(".")
            assert any(r[column] is None for r in kinds[kind]), f"json: {word} is always there"
            assert any(r[column] == "" for r in found["csv"][kind]), f"csv: {word} is always there"
        else:
            for form, has in found.items():
                assert word in has, f"{form}: no record {word}; there are {list(has)}"


main(*sys.argv[1:])
