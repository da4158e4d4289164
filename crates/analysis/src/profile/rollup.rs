//! Functions summed up: by what a process or thread is there for, by the file that they are in, and by source file.
//!
//! In: a folded stack; the files of functions as sampling noted them. Out: the name of the group that a sample belongs
//! to. Groups are compared as functions are.

use std::collections::BTreeMap;

/// What serves a client.
pub(super) const SESSIONS: &str = "sessions";

/// A function that only such processes or threads run, and what these are. The innermost one in a stack decides.
const ROLES: [(&str, &str); 33] = [
    ("PostgresMain", SESSIONS),
    ("ParallelWorkerMain", "parallel workers"),
    ("CheckpointerMain", "checkpointer"),
    ("BackgroundWriterMain", "background writer"),
    ("WalWriterMain", "WAL writer"),
    ("WalSummarizerMain", "WAL summarizer"),
    ("IoWorkerMain", "IO workers"),
    ("AutoVacLauncherMain", "autovacuum"),
    ("AutoVacWorkerMain", "autovacuum"),
    ("do_autovacuum", "autovacuum"),
    ("PgstatCollectorMain", "statistics collector"),
    ("ServerLoop", "postmaster"),
    ("do_command", SESSIONS),
    ("handle_connection", SESSIONS),
    ("handle_one_connection", SESSIONS),
    ("do_handle_one_connection", SESSIONS),
    ("buf_flush_page_cleaner", "page cleaner"),
    ("buf_flush_page_cleaner_coordinator", "page cleaner"),
    ("buf_flush_page_cleaner_thread", "page cleaner"),
    ("buf_flush_page_coordinator_thread", "page cleaner"),
    ("log_writer", "redo log"),
    ("log_flusher", "redo log"),
    ("log_write_notifier", "redo log"),
    ("log_flush_notifier", "redo log"),
    ("log_checkpointer", "redo log"),
    ("srv_purge_coordinator_thread", "purge"),
    ("srv_worker_thread", "purge"),
    ("purge_coordinator_callback", "purge"),
    ("purge_worker_callback", "purge"),
    ("srv_master_thread", "InnoDB master"),
    ("srv_master_callback", "InnoDB master"),
    ("io_handler_thread", "InnoDB IO"),
    ("rocksdb::ThreadPoolImpl::Impl::BGThread", "RocksDB background"),
];

/// What a stack begins with where its session is known to be there for one thing, and what such sessions are called.
const PURPOSES: [(&str, &str); 3] =
    [("[inserter]", "inserters"), ("[deleter]", "deleters"), ("[query session]", "query sessions")];

/// Those that none of these is known of.
const OTHER: &str = "other processes or threads";

/// Whether a stack is of a process or thread that serves a client.
pub(super) fn is_of_session(stack: &str) -> bool {
    purpose(stack).is_some() || role(stack) == SESSIONS
}

/// The first frame of a stack that begins with what its session is there for, and what such sessions are called.
pub(super) fn purpose(stack: &str) -> Option<(&'static str, &'static str)> {
    let first = stack.split(';').next()?;
    PURPOSES.into_iter().find(|(frame, _)| *frame == first)
}

/// What a stack's process or thread is there for.
pub(super) fn role(stack: &str) -> &'static str {
    if let Some((_, sessions)) = purpose(stack) {
        return sessions;
    }
    let known = |name: &str| {
        let name = name.split('(').next().unwrap_or(name);
        ROLES.iter().find(|(function, _)| *function == name).map(|(_, role)| *role)
    };
    stack.rsplit(';').find_map(known).unwrap_or(OTHER)
}

/// By file, its functions, as a sample has them.
type Listed = BTreeMap<String, Vec<String>>;

/// The files of functions. What any build says of a function is said of all, so that a build without debug information
/// is compared with one that has it, and a function with itself where its file was given another name.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// Of those that are not the server's own.
    modules: BTreeMap<String, String>,
    sources: BTreeMap<String, String>,
}

impl Files {
    /// Adds what a sample says.
    pub(super) fn add(&mut self, modules: &Listed, sources: &Listed) {
        for (all, listed) in [(&mut self.modules, modules), (&mut self.sources, sources)] {
            for (file, functions) in listed {
                all.extend(functions.iter().map(|function| (function.clone(), file.clone())));
            }
        }
    }

    /// Whether the source file of any function is known.
    pub(super) fn has_sources(&self) -> bool {
        !self.sources.is_empty()
    }

    /// The source file of a function; of one of which that is not known, the file that it is in.
    pub(super) fn source_of(&self, function: &str) -> String {
        self.sources.get(function).cloned().unwrap_or_else(|| self.of(function))
    }

    /// The file that a function is in.
    pub(super) fn of(&self, function: &str) -> String {
        match self.modules.get(function) {
            Some(file) => file.clone(),
            None if function.ends_with("_[k]") || function == "[kernel]" => "kernel".to_owned(),
            // Code without a name is called by its file.
            None => match function.strip_prefix('[').and_then(|file| file.strip_suffix(']')) {
                Some(file) if file.contains(".so") => file.to_owned(),
                _ => "server".to_owned(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_known_function_tells_the_process() {
        let check = |stack: &str, expected: &str| assert_eq!(role(stack), expected, "{stack}");
        check("main;PostmasterMain;ServerLoop;PostgresMain;exec_simple_query", "sessions");
        check("main;PostmasterMain;ServerLoop;BackgroundWorkerMain;ParallelWorkerMain;ExecScan", "parallel workers");
        check("main;PostmasterMain;ServerLoop;CheckpointerMain;CreateCheckPoint", "checkpointer");
        check("main;PostmasterMain;ServerLoop;fork", "postmaster");
        check("start_thread;pfs_spawn_thread;handle_one_connection;do_command(THD*);f", "sessions");
        check("start_thread;log_writer(log_t*);write_[k]", "redo log");
        check("[cut];f", OTHER);
        check("[deleter];main;PostmasterMain;ServerLoop;PostgresMain;exec_simple_query", "deleters");
        assert!(is_of_session("[deleter];main;f") && is_of_session("main;PostgresMain;f"));
        assert!(!is_of_session("main;ServerLoop;fork"));
    }

    #[test]
    fn files_are_those_that_sampling_noted() {
        let mut files = Files::default();
        assert!(!files.has_sources());
        let one = |file: &str, function: &str| BTreeMap::from([(file.to_owned(), vec![function.to_owned()])]);
        files.add(&one("libc.so.6", "memcpy"), &one("nbtree/nbtsearch.c", "_bt_compare"));
        let sources = ["memcpy", "_bt_compare", "_bt_first"].map(|function| files.source_of(function));
        assert_eq!(sources, ["libc.so.6", "nbtree/nbtsearch.c", "server"]);
        let of = |name: &str| files.of(name);
        assert_eq!(["memcpy", "_bt_compare", "sys_read_[k]"].map(of), ["libc.so.6", "server", "kernel"]);
        assert_eq!(
            ["[libc.so.6]", "[kernel]", "[postgres]", "[cut]"].map(of),
            ["libc.so.6", "kernel", "server", "server"]
        );
    }
}
