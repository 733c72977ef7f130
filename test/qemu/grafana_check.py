#!/usr/bin/env python3
"""Asks a Prometheus that reads a booted machine what the panels of tools/grafana.json ask.

    grafana_check.py PROMETHEUS SECONDS

Waits until four readings have succeeded, SECONDS at most. Prints a line for each check: "ok" or
"bad", and what was checked.
"""
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

TOP = os.path.join(os.path.dirname(__file__), "..", "..")
# Panels that are empty while nothing of their kind happens.
MAY_BE_EMPTY = ("Frames dropped",)
# How names of metrics end that have a panel's unit.
UNITS = {"bytes": ("_bytes",), "Bps": ("_bytes_total",), "percentunit": ("_ratio", "_total")}


def check(good, what):
    print("ok" if good else "bad", what, flush=True)


def ask(prometheus, query):
    """Returns the series of an answer, or the text of a refusal."""
    url = f"{prometheus}/api/v1/query?query={urllib.parse.quote(query)}"
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return json.load(answer)["data"]["result"]
    except urllib.error.HTTPError as error:
        return json.load(error)["error"]


def readings(prometheus):
    try:
        found = ask(prometheus, "sum_over_time(up[5m])")
        return int(found[0]["value"][1]) if found else 0
    except OSError:
        return 0


def main(prometheus, seconds):
    until = time.monotonic() + seconds
    while readings(prometheus) < 4 and time.monotonic() < until:
        time.sleep(1)
    check(readings(prometheus) >= 4, "Prometheus reads the machine")
    with open(os.path.join(TOP, "tools", "grafana.json"), encoding="utf-8") as file:
        panels = json.load(file)["panels"]
    for panel in panels:
        for target in panel["targets"]:
            query = target["expr"].replace("$machine", ".*").replace("$__rate_interval", "5m")
            found = ask(prometheus, query)
            good = isinstance(found, list) and (found or panel["title"] in MAY_BE_EMPTY)
            check(good, f"panel {panel['title']}: {query if not good else ''}"
                        f"{found if isinstance(found, str) else ''}")
        ends = UNITS.get(panel["fieldConfig"]["defaults"]["unit"], ("",))
        check(any(end in t["expr"] for t in panel["targets"] for end in ends),
              f"panel {panel['title']}: its unit fits")
    places = [(p["gridPos"]["x"], p["gridPos"]["y"]) for p in panels]
    check(len(set(places)) == len(places), "no panel lies on another")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
