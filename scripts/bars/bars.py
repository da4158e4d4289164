"""What the scripts of this folder share: the parts, a run that goes on after a break, and what the host did meanwhile.

A part is a campaign of at most 45 minutes. Its results folder stays, so that a part that was broken off is resumed and
one that is complete is not run again. Beside it lies <name>.json: command, commit, exit code, seconds, and the noise of
the host.
"""

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PART_SECONDS_MAX = 45 * 60

MYSQL = ["--build", "mysql:5.6.14", "--build", "mysql:8.0.33"]
POSTGRES = ["--build", "postgres:16.15", "--build", "postgres:17.11"]
SHORT = ["--rows", "100k", "--read-seconds", "2", "--write-seconds", "2"]
INSERT = ["run", "--suite", "insert", "--scale", "small"]
THREE, FIVE = ["--rounds", "3"], ["--rounds", "5"]
NEWER = ["--build", "postgres:17.11", "--build", "postgres:18.6"]
IN_TIME = ["--tests", "32", "--rows", "100k", "--time", "10m"]
IN_FIVE = [*IN_TIME[:-1], "5m"]
WRITES = "update-*,write-only,read-write_range=*,delete,insert"
TEN_MINUTES = ["--rounds", "8", "--seconds", "20"]
USERS = ["--clients", "1,4,40", "--rounds", "4", "--seconds", "10"]
TRANSACTIONS = ["run", "--suite", "tproc-c", "--warehouses", "4"]
ENGINES = ["--build", "postgres:17.11", "--build", "mysql:8.0.33"]
HALF = ["--tests", "32", "--rows", "100k", *THREE, "--read-seconds", "0.5", "--write-seconds", "0.5", "--warmup", "0.1"]
LEVELS = [*HALF, "--clients", "1,2,4"]

# Treatments of one build share its program, and so its pages. The same from a folder of its own:
# cp -r /var/cache/rqps/builds/pg1711_zonky/install /opt/pg1711-again
AGAIN = ["--build", "postgres:17.11", "--build", "again=postgres:/opt/pg1711-again"]
# Eight tests whose rounds differ by starts more than by slices.
NOISY_STARTS = "point-query,read-only-count,hot-points,range-covered-pk,range-notcovered-pk,points-covered-si"
STARTS = ["--tests", f"{NOISY_STARTS},read-only_range=100,update-index"]
STARTS += ["--rows", "100k", "--rounds", "12", "--read-seconds", "1", "--write-seconds", "1", "--warmup", "0.1"]


# Three tests in which 17.11 differs from 16.15, whatever the length of a slice.
DIFFERING = ["--tests", "hot-points,read-only-order,update-nonindex", "--rows", "100k", "--rounds", "8"]
SECOND = ["--read-seconds", "1", "--write-seconds", "1", "--warmup", "0.2"]
LONG = ["--read-seconds", "12", "--write-seconds", "12", "--warmup", "1", "--interleave", "turns", "--turn", "4"]


def same(build, count=2):
    """One build under so many names."""
    return [word for name in "abcd"[:count] for word in ("--build", f"{name}={build}")]


TWINS = same("postgres:17.11")

PARTS = {
    # A change of the house or of the client changes no ratio.
    "aa": ["run", *TWINS, "--tests", "32", *SHORT, "--rounds", "6"],
    "demo": ["demo"],
    "mysql": ["run", *MYSQL, "--tests", "32", *SHORT, *THREE],
    "insert": [*INSERT, *POSTGRES, *THREE],
    # Rounds in which nothing changed, as many as it takes to draw campaigns from them (scripts/bars/aa-rounds).
    "aa-rounds": [
        *["run", "--build", "postgres:17.11", "--aa", "--tests", "32", "--rows", "100k", "--rounds", "62"],
        *["--read-seconds", "0.25", "--write-seconds", "0.25", "--warmup", "0.1"],
    ],
    # An answer in the time given.
    "answer-postgres": ["run", *NEWER, *IN_TIME],
    "answer-postgres-again": ["run", *NEWER, *IN_TIME, "--seed", "2"],
    "answer-mariadb": ["run", "--build", "mariadb:10.5.23", "--build", "mariadb:10.11.18", *IN_TIME],
    "answer-mysql-writes": ["run", *MYSQL, "--tests", WRITES, "--rows", "100k", "--time", "10m"],
    # Several clients see as much as one, on every engine.
    "clients-postgres": ["run", *TWINS, *LEVELS],
    "clients-mysql": ["run", *same("mysql:8.0.33"), *LEVELS],
    "clients-mariadb": ["run", *same("mariadb:10.11.18"), *LEVELS],
    # The spread of starts, with programs in small pages and in huge ones; the second needs `rqps doctor --apply`.
    "pages-small": ["run", *AGAIN, *STARTS],
    "pages-huge": ["run", *AGAIN, *STARTS, "--program-pages", "huge"],
    # Slices of 3 and of 10 ms, and long turns beside them: the same ratios, and what each of them sees.
    "slices-3": ["run", *POSTGRES, *DIFFERING, *SECOND, "--slice", "3"],
    "slices-10": ["run", *POSTGRES, *DIFFERING, *SECOND, "--slice", "10"],
    "slices-turns": ["run", *POSTGRES, *DIFFERING, *LONG],
    "slices-3-clients": ["run", *TWINS, *HALF, "--clients", "1,4", "--slice", "3"],
    "slices-10-clients": ["run", *TWINS, *HALF, "--clients", "1,4", "--slice", "10"],
    "slices-3-differing-clients": ["run", *POSTGRES, *DIFFERING, *SECOND, "--clients", "4", "--slice", "3"],
    "slices-10-differing-clients": ["run", *POSTGRES, *DIFFERING, *SECOND, "--clients", "4", "--slice", "10"],
    "slices-3-mysql": ["run", *same("mysql:8.0.33"), *HALF, "--slice", "3"],
    "slices-10-mysql": ["run", *same("mysql:8.0.33"), *HALF, "--slice", "10"],
    "slices-3-mariadb": ["run", *same("mariadb:10.11.18"), *HALF, "--slice", "3"],
    "slices-10-mariadb": ["run", *same("mariadb:10.11.18"), *HALF, "--slice", "10"],
    # What each length sees in the time of `--time 5m`; two campaigns of each, to be run in turn.
    **{
        f"slices-{ms}-in-time-{seed}": ["run", *TWINS, *IN_FIVE, "--slice", f"{ms}", "--seed", f"{seed}"]
        for ms in (3, 10)
        for seed in (1, 2)
    },
    # Passes side by side, and the published form beside them.
    "insert-aa": [*INSERT, *TWINS, *THREE],
    "insert-postgres": [*INSERT, *NEWER, *THREE],
    "insert-postgres-turns": [*INSERT, *NEWER, *THREE, "--interleave", "turns"],
    "insert-mysql": [*INSERT, *MYSQL, *FIVE],
    "insert-mysql-turns": [*INSERT, *MYSQL, *FIVE, "--interleave", "turns"],
    # Timers of servers that stand still run on, the more the more arms there are.
    "insert-two-arms": [*INSERT, "--quick", *THREE, *same("postgres:17.11")],
    "insert-four-arms": [*INSERT, "--quick", *THREE, *same("postgres:17.11", 4)],
    # NOPM of one build against itself in ten minutes, in slices and in turns.
    "transactions-aa": [*TRANSACTIONS, *same("postgres:17.11"), "--clients", "2", *TEN_MINUTES],
    "transactions-aa-again": [*TRANSACTIONS, *same("postgres:17.11"), "--clients", "2", *TEN_MINUTES, "--seed", "2"],
    "transactions-aa-turns": [
        *[*TRANSACTIONS, *same("postgres:17.11"), "--clients", "2", *TEN_MINUTES],
        *["--interleave", "turns"],
    ],
    # Slices of 20 to 500 ms, with as many virtual users as there are and with far more than there are CPUs.
    "transactions-slices-20": [*TRANSACTIONS, *same("postgres:17.11"), *USERS, "--slice", "20"],
    "transactions-slices-100": [*TRANSACTIONS, *same("postgres:17.11"), *USERS, "--slice", "100"],
    "transactions-slices-500": [*TRANSACTIONS, *same("postgres:17.11"), *USERS, "--slice", "500"],
    # Versions, and engines.
    "transactions-postgres": [*TRANSACTIONS, *POSTGRES, "--clients", "1,4", *FIVE],
    "transactions-mysql": [*TRANSACTIONS, *MYSQL, "--clients", "1,4", *FIVE],
    "transactions-engines": [*TRANSACTIONS, *ENGINES, "--clients", "1,4", *FIVE],
}


def commit():
    told = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return told.stdout.strip() or "unknown"


def cpu_ticks():
    """Ticks of all CPUs: of everything, idle, and taken by other virtual machines."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    return sum(ticks[:8]), ticks[3] + ticks[4], ticks[7]


class Noise:
    """What the host did beside us, from now to the call of `told`."""

    def __init__(self):
        self.before, self.ours, self.load = cpu_ticks(), os.times(), os.getloadavg()[0]

    def told(self):
        whole, idle, stolen = (now - then for now, then in zip(cpu_ticks(), self.before))
        return {
            "steal_share": round(stolen / max(whole, 1), 5),
            "idle_share": round(idle / max(whole, 1), 5),
            "load_before": self.load,
            "load_after": os.getloadavg()[0],
        }


def run_part(part, rqps, out, label=""):
    """Runs a part, or goes on with it; gives its rows, as `rqps compare --json` has them."""
    name = part + (f"-{label}" if label else "")
    folder, record = out / name, out / f"{name}.json"
    out.mkdir(parents=True, exist_ok=True)
    if not record.exists():
        # `demo` has no --name, so that each gets a folder of results of its own.
        held = folder / "results"
        begun = [plan.parent for plan in held.glob("*/plan.json")]
        words = ["resume", str(begun[0])] if begun else [*PARTS[part], "--results", str(held)]
        noise, started = Noise(), time.time()
        print(f"{name}: {rqps} {' '.join(words)}", flush=True)
        folder.mkdir(exist_ok=True)
        with open(folder / "log", "a") as log:
            process = subprocess.Popen([rqps, *words], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
            try:
                code = process.wait(PART_SECONDS_MAX)
            except (subprocess.TimeoutExpired, KeyboardInterrupt):
                process.send_signal(signal.SIGTERM)
                process.wait()
                sys.exit(f"{name}: broken off after {time.time() - started:.0f} s; the next run goes on with it")
        if code not in (0, 1):
            sys.exit(f"{name}: rqps ended with {code}; see {folder / 'log'}")
        told = {"command": words, "rqps": str(rqps), "commit": commit(), "exit_code": code}
        told |= {"resumed": bool(begun), "seconds": round(time.time() - started), "noise": noise.told()}
        record.write_text(json.dumps(told, indent=2) + "\n")
    (campaign,) = (plan.parent for plan in (folder / "results").glob("*/plan.json"))
    told = subprocess.run([rqps, "compare", "--json", str(campaign)], capture_output=True, text=True, check=True)
    (folder / "compare.json").write_text(told.stdout)
    return json.loads(told.stdout)["rows"]


def seeds(text):
    """The seeds of `1-10`, both included."""
    first, last = (int(seed) for seed in text.split("-"))
    return range(first, last + 1)


def ratios(rows):
    """Ratio to the base with half its interval, by test, clients and treatment."""
    compared = (row for row in rows if row.get("rqps") and row.get("low") and row.get("high"))
    return {
        (row["test"], row["clients"], row["treatment"]): (row["rqps"], (row["high"] - row["low"]) / 2)
        for row in compared
    }


def width(found):
    """The median half width of the intervals: how much noise the part itself saw."""
    return statistics.median(half for _, half in found.values()) if found else float("nan")


def by_clients(rows):
    """A line for each number of clients: verdicts, and the median of the smallest changes that could be seen."""
    lines = []
    for clients in sorted({row["clients"] for row in rows}):
        judged = [row for row in rows if row["clients"] == clients and row.get("verdict")]
        verdicts = Counter(row["verdict"] for row in judged)
        seen = [row["mde"] for row in judged if row.get("mde")]
        mde = f"{statistics.median(seen):.2%}" if seen else "none"
        counted = ", ".join(f"{count} {word}" for word, count in verdicts.items())
        lines.append(f"{clients} clients: median MDE {mde}; {counted}")
    return lines


def by_seconds(out, name):
    """Of a part of the Insert Benchmark: the query steps whose own seconds differ most, largest over smallest."""
    spread = []
    for file in (out / name / "results").glob("*/rounds/*/*/insert/q*/seconds.jsonl"):
        queries = Counter()
        for row in map(json.loads, file.read_text().splitlines()):
            # What is left at the end is no whole second.
            if row["kind"] == "query" and row["second"].is_integer():
                queries[row["second"]] += row["operations"]
        if queries:
            spread.append((max(queries.values()) / max(min(queries.values()), 1), str(file.parent).split("/rounds/")[1]))
    return [f"{step}: seconds differ by {ratio:.2f} times" for ratio, step in sorted(spread, reverse=True)[:3]]
