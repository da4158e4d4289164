//! pgbench's scripts: from text to commands, and what their expressions give.
