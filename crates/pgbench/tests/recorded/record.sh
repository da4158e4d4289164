#!/bin/sh
# Records what pgbench 15 or later sends and computes, for the tests of this folder. Run it here as a user who is not
# root, with the folder of PostgreSQL's programs as the argument: ./record.sh /usr/lib/postgresql/15/bin
# It starts a server of its own in a temporary folder and removes both.
set -eu
bin=$1
here=$(cd "$(dirname "$0")" && pwd)
out=${2:-$here}
work=$(mktemp -d)
trap '"$bin/pg_ctl" -D "$work/data" -m immediate -w stop >"$work/stop" 2>&1 || true; rm -rf "$work"' EXIT
"$bin/initdb" -D "$work/data" -U postgres -A trust -E UTF8 --locale=C >"$work/init"
cat >>"$work/data/postgresql.conf" <<END
listen_addresses = ''
unix_socket_directories = '$work'
log_statement = all
log_line_prefix = '%p@'
fsync = off
shared_buffers = 16MB
max_connections = 10
END
"$bin/pg_ctl" -D "$work/data" -l "$work/log" -w start >"$work/start"
export PGHOST="$work" PGUSER=postgres PGDATABASE=postgres

# What the last session sent since $1 lines ago: statements, and the values of parameters.
sent() {
    tail -n "+$(($1 + 1))" "$work/log" | awk -F@ '
        /^[0-9]+@/ { own[$1] = own[$1] $0 "\n"; last = $1; next }
        { own[last] = own[last] $0 "\n" }
        END { printf "%s", own[last] }' | sed 's/^[0-9]*@//'
}

# record NAME ARGUMENTS: one client, seed 42; what it shows by debug() goes before what it sends.
record() {
    name=$1
    shift
    before=$(wc -l <"$work/log")
    "$bin/pgbench" -n -c 1 --random-seed=42 "$@" >"$work/shown" 2>"$work/errors" || { cat "$work/errors"; exit 1; }
    { grep '^debug' "$work/errors" || true; sent "$before"; } >"$out/$name.txt"
}

# tables NAME ARGUMENTS: how pgbench makes its tables.
tables() {
    name=$1
    shift
    before=$(wc -l <"$work/log")
    "$bin/pgbench" -i "$@" >"$work/shown" 2>&1
    sent "$before" | sed 's/^LOG:  statement: //' >"$out/$name.txt"
}

tables tables -I dtgvpf
tables tables-server -I dtGvp --unlogged-tables --fillfactor=90
tables tables-range -I dtgp -s 2 --partitions=3 --fillfactor=80
tables tables-hash -I dtg --partitions=2 --partition-method=hash
tables tables-plain -I dtgvp
"$bin/psql" -qAtX -c 'COPY pgbench_branches TO STDOUT' >"$out/rows.txt"
"$bin/psql" -qAtX -c 'COPY pgbench_tellers TO STDOUT' >>"$out/rows.txt"
"$bin/psql" -qAtX -c 'COPY (SELECT * FROM pgbench_accounts WHERE aid <= 3 OR aid > 99998) TO STDOUT' >>"$out/rows.txt"

for mode in simple extended prepared; do
    for builtin in tpcb-like simple-update select-only; do
        record "$builtin-$mode" -M "$mode" -t 50 -b "$builtin"
    done
    record "mixed-$mode" -M "$mode" -t 50 -f "$here/mixed.sql"
    record "choice-$mode" -M "$mode" -t 50 -b tpcb-like@2 -f "$here/blind.sql@0" -b select-only@5 -b simple-update@1
done
for mode in extended prepared; do
    record "pipeline-$mode" -M "$mode" -t 50 -f "$here/pipeline.sql"
done
record blind-simple -t 20 -f "$here/blind.sql"
record scanned-simple -t 2 -f "$here/scanned.sql"

# Each expression on its own, with what it gives or why it gives nothing.
while IFS='	' read -r expression _; do
    printf '\\set r debug(%s)\nSELECT 1;\n' "$expression" >"$work/script"
    "$bin/pgbench" -n -t 1 --random-seed=42 -f "$work/script" >"$work/shown" 2>"$work/errors" || true
    given=$(sed -n 's/^debug(script=0,command=1): //p; s/^pgbench: error: //p' "$work/errors" |
        sed 's/^.*script:1: //; s/ in command "set"$//' | head -1)
    printf '%s\t%s\n' "$expression" "$given"
done <"$here/expressions.txt" >"$work/expressions"
cp "$work/expressions" "$out/expressions.txt"
