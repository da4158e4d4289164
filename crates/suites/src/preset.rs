//! What `quick` and `demo` stand for in each suite, in the words of the flags.
//!
//! Pure data: campaign reads it as it reads flags, and the help shows it.

/// Name and value as for flags.
pub type Words = &'static [(&'static str, &'static str)];

/// Values for keys that are not given, with the name under which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// Such as `demo --quick`.
    pub name: &'static str,
    /// Keys and values.
    pub words: Words,
}

/// `--quick` in suite `sysbench`: a first look at all 32 tests in about ten minutes for two builds.
pub(crate) const QUICK: Preset = Preset {
    name: "quick",
    words: &[
        ("tables", "1"),
        ("rows", "100000"),
        ("tests", "32"),
        ("read-seconds", "2"),
        ("write-seconds", "2"),
        ("warmup", "0.5"),
        ("rounds", "3"),
    ],
};

/// `--quick` in suite `insert`: one pass for each build, in about a minute.
pub(crate) const QUICK_INSERT: Preset = Preset { name: "quick", words: &[("scale", "quick"), ("rounds", "1")] };

/// `rqps demo`: two releases and ten tests that tell them apart, in less than 5 minutes on 2 cores.
pub const DEMO: Preset = Preset {
    name: "demo",
    words: &[
        ("name", "demo"),
        ("build", "postgres:16.15"),
        ("build", "postgres:17.11"),
        ("tests", DEMO_TESTS),
        ("tables", "1"),
        ("rows", "100000"),
        ("read-seconds", "1.5"),
        ("write-seconds", "1.5"),
        ("warmup", "0.2"),
        ("rounds", "5"),
    ],
};

/// `rqps demo --quick`: the same in about a minute and a half, to see that everything works.
pub const QUICK_DEMO: Preset = Preset {
    name: "demo --quick",
    words: &[("rows", "50000"), ("read-seconds", "0.5"), ("write-seconds", "0.5"), ("warmup", "0.1"), ("rounds", "3")],
};

const DEMO_TESTS: &str = "hot-points,point-query,range-covered-pk,range-notcovered-si,read-only-count,\
    read-only_range=100,read-only-order,scan,update-index,update-nonindex";
