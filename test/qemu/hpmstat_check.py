#!/usr/bin/env python3
"""Checks the records of hpmstat on a console: json and csv of the same columns, values in their
limits.  Arguments: console, names that must have a value in both forms."""
import sys

import records


def check_value(record):
    """A count is within its limits, which are its own value where it is exact."""
    assert record["sure"] != "unseen" or record["value"] in (None, ""), record
    if record["sure"] not in ("exact", "interval"):
        assert record["low"] in (None, ""), record
        return
    low, value, high = (int(record[key]) for key in ("low", "value", "high"))
    assert low <= value <= high, record
    assert record["sure"] != "exact" or low == high, record
    assert 0 < float(record["seen_pct"]) <= 100, record


def main(path, *names):
    found = records.read(path, "hpmstat")
    for form, kinds in found.items():
        values = kinds["value"]
        for name in names:
            assert any(v["name"] == name and v["value"] not in (None, "") for v in values), \
                f"{form}: no value of {name}"
        for record in values:
            check_value(record)
        for kind in ("breakdown", "listed", "turns", "turn"):
            assert kinds.get(kind), f"{form}: no {kind}"
    list(records.of_both(found))


main(*sys.argv[1:])
