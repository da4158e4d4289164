"""Causes that the rules of `rqps explain` were not written for: two treatments of one build that differ in one thing
which costs time, and what must be told of it first.

Where the time goes (CPU of server or client, waiting) is told in any case; where a cause is something in there, it must
come before all else that is.
"""

from dataclasses import dataclass, field
from typing import Callable

BUILD = "postgres:17.11"
DEBIAN = "postgres:/usr/lib/postgresql/15"
ROUNDS = ["--rounds", "5", "--read-seconds", "1", "--write-seconds", "1", "--warmup", "0.3"]

TESTS = """
[values]
customer = { uniform = [1, 2_000] }
id = { uniform = [1, 50_000] }
amount = { uniform = [1, 100] }

[[test]]
name = "by-reference"
sql = "SELECT id, amount FROM orders WHERE reference = 'r' || CAST(:id AS integer)"

[[test]]
name = "open-of-customer"
sql = "SELECT count(*), sum(amount) FROM orders WHERE customer = :customer AND state = 'open'"

[[test]]
name = "sorted"
sql = "SELECT max(note) FROM (SELECT note FROM orders WHERE id <= 5000 + :customer ORDER BY note OFFSET 10) AS s"

[[test]]
name = "change"
sql = "UPDATE orders SET amount = :amount WHERE id = :id"
"""

# Statistics are those that the files gather.
WORKLOADS = {
    "causes.toml": """format = 1
name = "causes"

[data]
dump = ["tables.sql", "first-rows.sql", "other-rows.sql", "analyze.sql"]
finish = ["SELECT 1"]

[data.only.without]
schema = ["drop-index.sql"]

[data.only.held]
schema = ["hold-lock.sql"]
""",
    "stale.toml": """format = 1
name = "stale"

[data]
dump = ["tables.sql", "first-rows.sql"]
finish = ["SELECT 1"]

[data.only.fresh]
schema = ["other-rows.sql", "analyze.sql"]

[data.only.stale]
schema = ["analyze.sql", "other-rows.sql"]
""",
}


def rows(state, first, last):
    columns = f"i, i % 2000 + 1, 'r' || i, '{state}', i % 100, md5(i::text) || md5((-i)::text)"
    return f"INSERT INTO orders SELECT {columns} FROM generate_series({first}, {last}) AS i;\n"


FILES = {
    "tables.sql": """CREATE TABLE orders (
    id integer PRIMARY KEY, customer integer NOT NULL, reference text NOT NULL, state text NOT NULL,
    amount integer NOT NULL, note text NOT NULL
) WITH (autovacuum_enabled = off, fillfactor = 70);
CREATE INDEX orders_customer ON orders (customer);
CREATE INDEX orders_reference ON orders (reference);
CREATE INDEX orders_state ON orders (state);
CREATE TABLE gate (id integer PRIMARY KEY, passed integer);
INSERT INTO gate VALUES (1, 0);
""",
    # Nothing is open yet.
    "first-rows.sql": rows("done", 1, 5_000),
    "other-rows.sql": rows("open", 5_001, 50_000),
    "analyze.sql": "ANALYZE orders;\n",
    "drop-index.sql": "DROP INDEX orders_reference;\n",
    # Whoever changes an order holds the one row of the gate until its commit.
    "hold-lock.sql": """CREATE FUNCTION pass_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN UPDATE gate SET passed = passed + 1 WHERE id = 1; RETURN NEW; END $$;
CREATE TRIGGER gate BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION pass_gate();
""",
}

TIME = {"server-cpu", "client-cpu", "waiting"}


@dataclass(frozen=True)
class Told:
    """What `explain --json` tells of a test of the second treatment."""

    row: dict

    def kinds(self):
        """Kinds of causes, and measures of work and counts, in the order in which they are told."""
        return [cause.get("measure", cause["kind"]) for cause in self.row["causes"]]

    def time(self):
        """Where most of the time went."""
        return next((kind for kind in self.kinds() if kind in TIME), None)

    def first(self):
        """What is told first beside where the time goes."""
        return next((kind for kind in self.kinds() if kind not in TIME), None)

    def functions(self):
        return self.named(self.row["profile"], "functions")

    def waits(self):
        return self.named(self.row["waits"], "events")

    def named(self, found, kind):
        return [one["name"] for one in (found or {kind: []})[kind] if one["amount"]["is_sure"]]

    def words(self):
        kinds, functions, waits = ", ".join(self.kinds()), self.functions(), self.waits()
        return f"{kinds or 'nothing'}; functions {functions[:3]} of {len(functions)}; waits {waits[:3]}"


@dataclass(frozen=True)
class Case:
    """Two treatments, and what must be told."""

    about: str
    right: Callable[[Told], bool]
    test: str
    # Lines of `build`, the base first.
    treatments: list = field(default_factory=lambda: [f"base={BUILD}", f"other={BUILD}"])
    settings: str = ""
    words: list = field(default_factory=list)
    workload: str = "causes.toml"


CASES = {
    "index": Case(
        "an index was dropped",
        lambda told: told.kinds()[:1] == ["plan"],
        "by-reference",
        [f"base={BUILD}", f"without={BUILD}"],
    ),
    "statistics": Case(
        "statistics are from before most rows came",
        lambda told: told.kinds()[:1] == ["plan"],
        "open-of-customer",
        [f"fresh={BUILD}", f"stale={BUILD}"],
        workload="stale.toml",
    ),
    "spill": Case(
        "work_mem is too small for a sort",
        lambda told: told.first() == "temp_file_bytes",
        "sorted",
        settings='work_mem = "64kB"',
    ),
    "sync": Case(
        "each commit waits for the disk",
        lambda told: told.time() == "waiting" and [name.lower() for name in told.waits()[:1]] == ["io/walsync"],
        "change",
        settings='synchronous_commit = "on"',
    ),
    "timing": Case(
        "the time of each statement is logged",
        lambda told: told.first() == "server_write_bytes_per_op",
        "by-reference",
        settings='log_duration = "on"',
    ),
    "lock": Case(
        "sixteen clients wait for one row",
        lambda told: told.time() == "waiting" and told.waits()[:1] in (["Lock/tuple"], ["Lock/transactionid"]),
        "change",
        [f"base={BUILD}", f"held={BUILD}"],
        words=["--clients", "16"],
    ),
    "burn": Case(
        "a module burns a tenth of a query",
        lambda told: told.kinds() == ["server-cpu"] and told.functions()[:1] == ["rqps_burn"],
        "by-reference",
        [f"base={DEBIAN}", f"other={DEBIAN}"],
        settings='"rqps_burn.nanoseconds" = 6000',
    ),
    "unoptimised": Case(
        "the server was compiled without optimisation",
        lambda told: told.kinds()[:1] == ["server-cpu"] and told.row["causes"][0]["kernel"] is not None
        and told.row["causes"][0]["kernel"] < 0.5 and told.first() is None and len(told.functions()) > 10,
        "by-reference",
        ["base=postgres:src:18.6", "other=postgres:src:18.6+o0"],
    ),
    "client": Case(
        "the client takes a tenth longer between two statements",
        lambda told: told.kinds()[:1] == ["client-cpu"],
        "by-reference",
        [f"base={BUILD}"],
        words=["--control", "10%"],
    ),
    "same": Case(
        "nothing differs",
        lambda told: not told.kinds() and not told.functions() and not told.waits(),
        "by-reference,change,open-of-customer,sorted",
    ),
}


def campaign_file(case, module):
    """The campaign as TOML; a path is from its own folder."""
    lines = []
    for at, treatment in enumerate(case.treatments):
        name, build = treatment.split("=", 1)
        settings = [case.settings] if at and case.settings else []
        if build == DEBIAN:
            settings.append(f'shared_preload_libraries = "{module}"')
        lines.append(f'    {{ name = "{name}", from = "{build}", set = {{ {", ".join(settings)} }} }},\n')
    return "build = [\n" + "".join(lines) + "]\n"


def write_workloads(folder):
    folder.mkdir(exist_ok=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    for name, text in WORKLOADS.items():
        (folder / name).write_text(text + TESTS)


def words(case, name, folder, module):
    """The words of `rqps run`."""
    file = folder / f"campaign-{name}.toml"
    file.write_text(campaign_file(case, module))
    workload = str(folder / case.workload)
    return ["run", str(file), "--suite", "own", "--from", workload, "--tests", case.test, *ROUNDS, *case.words]
