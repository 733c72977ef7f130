#!/usr/bin/env python3
"""Checks the records of hpmstat on a console: json and csv of the same columns, values in their
limits.  Arguments: console, names that must have a value in both forms."""
import csv
import json
import sys


def read(path):
    """Returns the records of each form: {form: {kind: [record]}}."""
    found = {"json": {}, "csv": {}}
    columns = {}
    with open(path, encoding="utf-8", errors="replace") as console:
        for line in console:
            line = line.rstrip("\n")
            if line.startswith('{"hpmstat"'):
                record = json.loads(line)
                found["json"].setdefault(record.pop("hpmstat"), []).append(record)
            elif line.startswith("hpmstat,"):
                _, kind, *cells = next(csv.reader([line]))
                if kind not in columns:
                    columns[kind] = cells
                    continue
                assert len(cells) == len(columns[kind]), f"{line}: not as its columns"
                found["csv"].setdefault(kind, []).append(dict(zip(columns[kind], cells)))
    return found


def check_value(record):
    """A count is within its limits, which are its own value where it is exact."""
    if record["sure"] not in ("exact", "interval"):
        assert record["low"] in (None, ""), record
        return
    low, value, high = (int(record[key]) for key in ("low", "value", "high"))
    assert low <= value <= high, record
    assert record["sure"] != "exact" or low == high, record
    assert 0 < float(record["seen_pct"]) <= 100, record


def main(path, *names):
    found = read(path)
    for form, kinds in found.items():
        values = kinds["value"]
        for name in names:
            assert any(v["name"] == name and v["value"] not in (None, "") for v in values), \
                f"{form}: no value of {name}"
        for record in values:
            check_value(record)
        for kind in ("breakdown", "listed", "turns", "turn"):
            assert kinds.get(kind), f"{form}: no {kind}"
    for kind, records in found["json"].items():
        assert list(records[0]) == list(found["csv"][kind][0]), f"{kind}: columns differ"


main(*sys.argv[1:])
