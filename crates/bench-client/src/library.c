/* A client on libpq (with -DPOSTGRES) or libmariadb that makes calls written down before: a thread for each session.
 *
 * usage: library-client CALLS SOCKET USER DATABASE SESSIONS SECONDS
 *
 * Every thread goes through the calls of its session again and again. A call is one event of one or more statements; it
 * reads the first value of each answer, looks at the clock and counts the response time, as any benchmark client does.
 * Drawing inputs and writing statements costs it nothing: they stand in the file.
 *
 * The file: a line `P name SQL` prepares a statement; `B session` begins the calls of a session; `E` begins a call;
 * `X name values...`, separated by tabs, executes a prepared statement; `Q SQL` sends a statement as text. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef POSTGRES
#include <libpq-fe.h>
#else
#include <mysql.h>
#endif

enum { VALUES_MAX = 16, BUCKETS = 1024, BUCKETS_PER_DOUBLING = 16 };

struct statement {
    const char *text; /* name of what is prepared, or SQL */
    const char *values[VALUES_MAX];
    int count; /* of values; -1 where the text is sent */
    int begins;
};

struct session {
    struct statement *statements;
    size_t count, room;
    uint64_t buckets[BUCKETS];
    uint64_t events;
    int64_t sum; /* of what was read, so that it is read */
};

static const char *socket_path, *user, *database;
static char **prepared; /* name, SQL, name, SQL */
static size_t prepared_count;
static int64_t end_ns;

static void fail(const char *doing, const char *message) {
    fprintf(stderr, "%s: %s\n", doing, message);
    exit(1);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void *grown(void *all, size_t count, size_t bytes) {
    all = realloc(all, count * bytes);
    if (all == NULL) fail("reading calls", "no memory");
    return all;
}

#ifdef POSTGRES
typedef PGconn connection;

static connection *open_connection(void) {
    char *folder = strdup(socket_path), *name = strrchr(folder, '/'), *port = strrchr(socket_path, '.') + 1;
    *name = '\0';
    const char *keys[] = {"host", "port", "user", "dbname", NULL};
    const char *values[] = {folder, port, user, database, NULL};
    PGconn *to = PQconnectdbParams(keys, values, 0);
    if (PQstatus(to) != CONNECTION_OK) fail("connecting", PQerrorMessage(to));
    for (size_t i = 0; i < prepared_count; i += 2) {
        PGresult *result = PQprepare(to, prepared[i], prepared[i + 1], 0, NULL);
        if (PQresultStatus(result) != PGRES_COMMAND_OK) fail(prepared[i + 1], PQerrorMessage(to));
        PQclear(result);
    }
    free(folder);
    return to;
}

static int64_t execute(connection *to, const struct statement *it) {
    PGresult *result = it->count < 0 ? PQexec(to, it->text)
                                     : PQexecPrepared(to, it->text, it->count, it->values, NULL, NULL, 0);
    ExecStatusType status = PQresultStatus(result);
    /* A deadlock is told as an error; the next call goes on, as with HammerDB. */
    int64_t read = status == PGRES_TUPLES_OK && PQntuples(result) > 0 ? atoll(PQgetvalue(result, 0, 0)) : 0;
    if (status == PGRES_FATAL_ERROR) {
        fprintf(stderr, "%s", PQerrorMessage(to));
        if (PQstatus(to) != CONNECTION_OK) exit(1);
    }
    PQclear(result);
    return read;
}

static void close_connection(connection *to) { PQfinish(to); }
#else
typedef MYSQL connection;

static connection *open_connection(void) {
    MYSQL *to = mysql_init(NULL);
    if (mysql_real_connect(to, NULL, user, "", database, 0, socket_path, CLIENT_MULTI_RESULTS) == NULL)
        fail("connecting", mysql_error(to));
    if (prepared_count > 0) fail("preparing", "the calls of this engine are sent as text");
    return to;
}

static int64_t execute(connection *to, const struct statement *it) {
    int64_t read = 0;
    int failed = mysql_real_query(to, it->text, strlen(it->text));
    while (!failed) {
        MYSQL_RES *result = mysql_store_result(to);
        if (result != NULL) {
            MYSQL_ROW row = mysql_fetch_row(result);
            if (row != NULL && row[0] != NULL) read = atoll(row[0]);
            mysql_free_result(result);
        }
        int more = mysql_next_result(to);
        if (more != 0) {
            failed = more > 0;
            break;
        }
    }
    if (failed) {
        fprintf(stderr, "%s\n", mysql_error(to));
        if (mysql_errno(to) >= 2000 && mysql_errno(to) < 3000) exit(1);
    }
    return read;
}

static void close_connection(connection *to) { mysql_close(to); }
#endif

static void count_response(struct session *session, int64_t took_ns) {
    int doubling = 63 - __builtin_clzll((uint64_t)took_ns | BUCKETS_PER_DOUBLING);
    int within = (int)(took_ns >> (doubling - 4)) & (BUCKETS_PER_DOUBLING - 1);
    session->buckets[doubling * BUCKETS_PER_DOUBLING + within]++;
    session->events++;
}

static void *work(void *of) {
    struct session *session = of;
    connection *to = open_connection();
    int64_t begun = now_ns();
    for (size_t i = 0; begun < end_ns; i = i + 1 == session->count ? 0 : i + 1) {
        session->sum += execute(to, &session->statements[i]);
        if (i + 1 == session->count || session->statements[i + 1].begins) {
            int64_t now = now_ns();
            count_response(session, now - begun);
            begun = now;
        }
    }
    close_connection(to);
    return NULL;
}

static void read_calls(FILE *file, struct session *sessions, int count) {
    struct session *session = NULL;
    char *line = NULL;
    size_t room = 0;
    int begins = 0;
    for (ssize_t length; (length = getline(&line, &room, file)) > 0;) {
        if (line[length - 1] == '\n') line[length - 1] = '\0';
        if (line[0] == 'E') {
            begins = 1;
            continue;
        }
        char *rest = strdup(line + 2), *next = rest;
        if (line[0] == 'B') {
            int number = atoi(rest);
            if (number >= count) return;
            session = &sessions[number];
        } else if (line[0] == 'P') {
            prepared = grown(prepared, prepared_count + 2, sizeof *prepared);
            prepared[prepared_count++] = strsep(&next, "\t");
            prepared[prepared_count++] = next;
        } else {
            if (session == NULL) fail("reading calls", "a call of no session");
            if (session->count == session->room) {
                session->room = 2 * session->room + 1024;
                session->statements = grown(session->statements, session->room, sizeof *session->statements);
            }
            struct statement *it = &session->statements[session->count++];
            *it = (struct statement){.text = rest, .count = -1, .begins = begins};
            begins = 0;
            if (line[0] == 'X') {
                it->text = strsep(&next, "\t");
                it->count = 0;
                while (next != NULL && it->count < VALUES_MAX) it->values[it->count++] = strsep(&next, "\t");
            }
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 7) fail("usage", "library-client CALLS SOCKET USER DATABASE SESSIONS SECONDS");
    FILE *file = fopen(argv[1], "r");
    if (file == NULL) fail("cannot open", argv[1]);
    socket_path = argv[2], user = argv[3], database = argv[4];
    int count = atoi(argv[5]);
    struct session *sessions = calloc((size_t)count, sizeof *sessions);
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    read_calls(file, sessions, count);
    for (int i = 0; i < count; i++)
        if (sessions[i].count == 0) fail("reading calls", "a session has none");
    end_ns = now_ns() + (int64_t)(atof(argv[6]) * 1e9);
#ifndef POSTGRES
    mysql_library_init(0, NULL, NULL);
#endif
    /* A single session needs no thread of its own. */
    for (int i = 1; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, &sessions[i]) != 0) fail("starting a thread", "refused");
    work(&sessions[0]);
    uint64_t events = sessions[0].events;
    for (int i = 1; i < count; i++) {
        pthread_join(threads[i], NULL);
        events += sessions[i].events;
    }
    printf("%llu events\n", (unsigned long long)events);
    return 0;
}
