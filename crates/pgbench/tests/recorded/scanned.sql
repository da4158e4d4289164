-- Where statements end, and what is sent of what stands between them.
SELECT 'a;b', "c;d", $$e;f$$, $g$h;$i$;$$;$g$ FROM (SELECT 1 AS "c;d") AS t; SELECT (SELECT 2
); /* a; /* b; */ c; */ SELECT 3; -- d; \set
   SELECT E'\';', E'a' -- b
  'c\';', 'it''s;', U&'\0041;', U&"d\0061;" , b'1', x'ff', n';', 1 --;
FROM (SELECT 1 AS "da;") AS t;
SELECT 'a\'; SELECT ':''x', 4;
CREATE OR REPLACE FUNCTION pg_temp.f(a int) RETURNS int LANGUAGE sql
BEGIN ATOMIC SELECT CASE WHEN a = 1 THEN 1 ELSE 2 END; SELECT 2; END; SELECT pg_temp.f(1);
BEGIN; SELECT 5; END;
SELECT :{?client_id}, :{?undefined}, ':{?client_id}' /* :{?client_id} */;
\set é 1 -- 2
SELECT :é, 'é':: /* c */ text, 7::int, 8 :: int;
SELECT 1+/* a */2, 3 *-- b
 4, 5 - -6, @ -7, 8 != -9;
\ set x 10 \
  + 1
SELECT :x AS a$b$, 1 AS c$b$; SELECT :x -- e
  \set x 12
SELECT :x \; SELECT :x + 1 \; ; SELECT (ARRAY[1, 2])[1:2];
SELECT 13;
\set x 14 \
 + 1
SELECT :x,
  16;
\if false
SELECT 17;
\endif
SELECT 18
\

/* the end */ -- of it
