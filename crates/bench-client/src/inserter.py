#!/usr/bin/env python3
"""Step l.i0 of the Insert Benchmark as a straightforward Python program does it, for `rqps bench-client` to compare with.

In: an engine, its Unix socket, a number of rows. Out: the table pi1 made anew with that many rows in statements of --batch
rows, each its own transaction, and one line of JSON: rows, seconds, CPU seconds (user and system, by getrusage) and peak memory.
Connecting, importing and making the table are not counted. It is one process with one connection, without the queues
between processes that the published client has, so it costs less than that one.
"""

import argparse
import base64
import datetime
import json
import os
import platform
import random
import resource
import sys
import time

COLUMNS = "dateandtime, cashregisterid, customerid, productid, price, data"

POSTGRES_TABLE = (
    "CREATE TABLE pi1 (transactionid bigserial PRIMARY KEY, dateandtime timestamp without time zone, "
    "cashregisterid int NOT NULL, customerid int NOT NULL, productid int NOT NULL, price int NOT NULL, "
    "data varchar(4000))",
    "ALTER SEQUENCE pi1_transactionid_seq CACHE 1000",
)
MYSQL_TABLE = (
    "CREATE TABLE pi1 (transactionid bigint NOT NULL AUTO_INCREMENT, dateandtime datetime, "
    "cashregisterid int NOT NULL, customerid int NOT NULL, productid int NOT NULL, price int NOT NULL, "
    "data varchar(4000), PRIMARY KEY (transactionid)) ENGINE=InnoDB DEFAULT CHARSET=latin1",
)


def driver(engine):
    """The module that speaks to the engine, the first that is installed."""
    if engine == "postgres":
        try:
            import psycopg2 as module
        except ImportError:
            import psycopg as module
    else:
        import MySQLdb as module
    return module


def connect(args):
    """A connection that commits each statement."""
    module = driver(args.engine)
    if args.engine == "postgres":
        folder, file = os.path.split(args.socket)
        port = file.rsplit(".", 1)[1]
        connection = module.connect(host=folder, port=port, user=args.user, dbname=args.database)
        connection.autocommit = True
    else:
        connection = module.connect(unix_socket=args.socket, user=args.user, db=args.database)
        connection.autocommit(True)
    return connection


class Rows:
    """Draws rows: uniform numbers, and 10 to 20 letters of which half are filler and half hardly compress."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        # 4 MB of letters, of which each row takes some.
        self.letters = base64.b64encode(self.random.randbytes(3 << 20)).decode("ascii")

    def row(self, now):
        draw = self.random.randrange
        length = draw(10, 21)
        filler = length // 2
        at = draw(len(self.letters) - length)
        data = "a" * filler + self.letters[at : at + length - filler]
        return "('%s',%d,%d,%d,%.2f,'%s')" % (now, draw(1000), draw(100000), draw(10000), draw(500), data)

    def insert(self, count):
        """The statement for so many rows, which share their time."""
        now = datetime.datetime.now().strftime("%Y-%m-%d %H:%M:%S")
        return "INSERT INTO pi1 (%s) VALUES %s" % (COLUMNS, ",".join([self.row(now) for _ in range(count)]))


def cpu_s():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def run(args):
    cursor = connect(args).cursor()
    cursor.execute("DROP TABLE IF EXISTS pi1")
    for sql in POSTGRES_TABLE if args.engine == "postgres" else MYSQL_TABLE:
        cursor.execute(sql)
    rows = Rows(args.seed)
    begun_cpu, begun = cpu_s(), time.monotonic()
    left = args.rows
    while left > 0:
        count = min(left, args.batch)
        cursor.execute(rows.insert(count))
        left -= count
    told = {
        "operations": args.rows,
        "seconds": time.monotonic() - begun,
        "cpu_s": cpu_s() - begun_cpu,
        "peak_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }
    print(json.dumps(told))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("engine", choices=["postgres", "mysql"], help="the protocol that the server speaks")
    parser.add_argument("--driver", action="store_true", help="only tell which driver is installed")
    parser.add_argument("--socket", help="the server's Unix socket")
    parser.add_argument("--user")
    parser.add_argument("--database")
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--batch", type=int, default=100, help="rows of a statement")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.driver:
        try:
            module = driver(args.engine)
        except ImportError as error:
            sys.exit(str(error))
        version = getattr(module, "__version__", "?").split()[0]
        print(module.__name__, version, "on Python", platform.python_version())
    else:
        run(args)


if __name__ == "__main__":
    main()
