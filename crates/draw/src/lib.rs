//! Numbers and values that are drawn: the generator of pgbench, its distributions, and sources of values.
