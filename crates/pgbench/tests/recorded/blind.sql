-- What simple mode alone can send: names in quotes and comments, several statements in a message, names left as typed.
\set x random(1, 100)
\set d :x / 3.0
\set b :x > 50
\set nothing CASE WHEN :x > 90 THEN :x END
SELECT ':x', '{"a":b}', "a:x" /* :d */ -- :b :nothing
  FROM (SELECT 1 AS "a:x") AS t;
SELECT ':undefined', :x::int, ':::x', '12:34', ':''x''', :b, :nothing;;
SELECT 1 AS one \; SELECT 2 AS two WHERE :b \; SELECT 3 AS one \aset r_
SELECT NULL AS none, 'it is' AS words; -- both are text
  \gset g_
SELECT ':g_none', ':g_words', ':r_one', ':r_two', E'\'; \\' , $a$ ; \set :x $a$, U&'\0041', (SELECT 1
 ); SELECT 7 \:\: int
\
\sleep :x us
/* the last one, without an end */
