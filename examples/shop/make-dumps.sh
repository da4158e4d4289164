#!/bin/sh
# Makes the dumps of this folder again: make-dumps.sh POSTGRES-BIN MYSQL-BUILD
# POSTGRES-BIN is a folder with initdb, pg_ctl, psql and pg_dump, such as /usr/lib/postgresql/15/bin; MYSQL-BUILD is an
# installed MySQL, such as ~/.cache/rqps/builds/my8033_jcabi/install. mariadb and mariadb-dump, or mysql and mysqldump,
# are taken from the path. Run it as any user but root.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
postgres=$1
mysql=$2
work=$(mktemp -d)
client=$(command -v mariadb || command -v mysql)
dump=$(command -v mariadb-dump || command -v mysqldump)
stop() {
    "$postgres/pg_ctl" -D "$work/pg" -m fast stop >"$work/stop.log" 2>&1 || true
    [ -z "${server:-}" ] || kill "$server" || true
    wait || true
    rm -rf "$work"
}
trap stop EXIT

"$postgres/initdb" -D "$work/pg" -U shop --no-sync >"$work/init.log"
"$postgres/pg_ctl" -D "$work/pg" -w -l "$work/pg.log" -o "-k $work -c listen_addresses=" start >"$work/start.log"
"$postgres/psql" -qh "$work" -U shop -c 'CREATE DATABASE shop' postgres
python3 "$here/rows.py" postgres | "$postgres/psql" -qh "$work" -U shop -v ON_ERROR_STOP=1 shop
"$postgres/pg_dump" -h "$work" -U shop shop | gzip -9n >"$here/shop-postgres.sql.gz"

"$mysql/bin/mysqld" --no-defaults --initialize-insecure --basedir="$mysql" --datadir="$work/my" >"$work/my.log" 2>&1
"$mysql/bin/mysqld" --no-defaults --basedir="$mysql" --datadir="$work/my" --socket="$work/my.sock" --skip-networking \
    --mysqlx=OFF --default-authentication-plugin=mysql_native_password >>"$work/my.log" 2>&1 &
server=$!
until "$client" -u root -S "$work/my.sock" -e 'CREATE DATABASE shop CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci' \
    >>"$work/my.log" 2>&1; do
    kill -0 "$server"
    sleep 1
done
python3 "$here/rows.py" mysql | "$client" -u root -S "$work/my.sock" shop
"$dump" -u root -S "$work/my.sock" --single-transaction --routines --triggers shop | gzip -9n >"$here/shop-mysql.sql.gz"
ls -l "$here"/*.gz
