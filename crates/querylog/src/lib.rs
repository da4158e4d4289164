//! What a server wrote down of its queries: logs and statistics, read into statements with their values.
