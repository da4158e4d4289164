-- What is sent without waiting for answers, in extended and prepared mode.
\set x random(1, 1000)
SELECT 'before', :x::int;
\startpipeline
SELECT :x::int AS one;
\set y random_zipfian(1, 100, 1.5)
SELECT :x::int + :y::int;
\if :x > 500
  SELECT 'more than half', :y::int;
\endif
\endpipeline
BEGIN;
\startpipeline
UPDATE pgbench_branches SET bbalance = bbalance + :y WHERE bid = 1;
\sleep 10 us
SELECT bbalance IS NOT NULL FROM pgbench_branches WHERE bid = 1
\endpipeline
END;
\startpipeline
\endpipeline
