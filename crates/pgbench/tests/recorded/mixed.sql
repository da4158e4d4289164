-- What draws, what decides, and what comes back from the server: in every mode.
\set n random_zipfian(1, 1000, 1.5)
\set g random_gaussian(1, 1000, 3.0)
\set e random_exponential(1, 1000, 10)
\set p permute(:n, 1000)
\set q permute(:n, 77, 5)
\set h hash(:g) % 1000
\set f abs(hash_fnv1a(:e, 5)) % 100
\set share :g / 7.0
\set root sqrt(:e) * pow(:n, 0.25) + ln(:g) - exp(-:h / 500.0)
\set kind CASE WHEN :n < 3 THEN 1 WHEN :g > 700 THEN 2.5 WHEN :e % 2 = 0 THEN true ELSE NULL END
-- The right side of this is drawn first.
\set late random(1, 10) >= random(1, 10)
/* leading */ SELECT :n::bigint, :g::bigint, -- a comment; within
  :e::bigint, :p::bigint, :q::bigint;
SELECT :h::bigint, :f::bigint, :share::float8, :root::float8, :late::text, :client_id::int, :scale::int,
  :random_seed::bigint, :default_seed::bigint, '::', (array[1, 2])[1:2]
\set m least(:n, :g, :e) # \
  greatest(:p, :q)
BEGIN;
SELECT :n::bigint * 2 AS twice, 'n' AS flag, 1.25::float8 AS part \gset s_
\set seen debug(:s_twice)
\if :s_flag
  SELECT 'not taken';
  \if :undefined
  \endif
\elif :n > 5 or :late
  SELECT 'elif', :s_part::float8;
  \if :late
    SELECT 'late', :m::bigint;
  \else
    \sleep 10 us
    SELECT 'early', :seen::bigint;
  \endif
\else
  SELECT 'else';
\endif
END
