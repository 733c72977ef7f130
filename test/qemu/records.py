"""Reads the records that programs of monitoring print among other lines, as JSON and as CSV
(apps/tools/measuring/record.h), and checks what holds for all of them."""
import csv
import json

UNITS = ("_ms", "_us", "_ns", "_pct", "_permille", "_cycles", "ms", "ns", "cycles", "busy_cpus",
         "met", "crossed", "dense")  # the last three: parts of 1


def read(path, tool):
    """Returns the records of each form: {form: {kind: [record]}}."""
    found = {"json": {}, "csv": {}}
    columns = {}
    with open(path, encoding="utf-8", errors="replace") as console:
        for line in console:
            line = line.rstrip("\n")
            if line.startswith(f'{{"{tool}"'):
                record = json.loads(line)
                found["json"].setdefault(record.pop(tool), []).append(record)
            elif line.startswith(f"{tool},"):
                _, kind, *cells = next(csv.reader([line]))
                if columns.setdefault(kind, cells) == cells:  # each run names them
                    continue
                assert len(cells) == len(columns[kind]), f"{line}: not as its columns"
                found["csv"].setdefault(kind, []).append(dict(zip(columns[kind], cells)))
    return found


def of_both(found):
    """Yields (kind, records of json, records of csv); both forms have the same columns, and the
    same columns have numbers."""
    for kind in found["json"].keys() & found["csv"].keys():
        records, others = found["json"][kind], found["csv"][kind]
        for record in records:
            assert list(record) == list(others[0]), f"{kind}: columns differ"
        for column in others[0]:
            values = [r[column] for r in records if r[column] is not None]
            if values and not isinstance(values[0], str):
                for cell in (r[column] for r in others if r[column] != ""):
                    float(cell)
        yield kind, records, others


def limits(record):
    """Yields (low, value, high) of the columns that have limits, X_low and X_high of X, where they
    are known."""
    for column in record:
        base, unit = (column[:-4], "_pct") if column.endswith("_pct") else (column, "")
        low, high = (f"{base}_{end}{unit}" for end in ("low", "high"))
        if record.get(low) not in (None, ""):
            yield tuple(float(record[c]) for c in (low, column, high))


def check(found):
    """Checks what all records have in common; returns how many had limits."""
    limited = 0
    for kind, *forms in of_both(found):
        for record in (r for records in forms for r in records):
            for low, value, high in limits(record):
                # A count and its limits are rounded each by itself.
                assert low - 1 <= value <= high + 1 and low < high, f"{kind}: {record}"
                limited += 1
        for column, value in ((c, v) for r in forms[0] for c, v in r.items()):
            assert not isinstance(value, float) or "unit" in forms[0][0] or \
                column.endswith(UNITS), f"{kind}: {column} says no unit"
            assert value != "" and value != "?", f"{kind}: {column} is no text, and not null"
    return limited
