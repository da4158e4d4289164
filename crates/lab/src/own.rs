//! A first workload file from what a server saw.
//!
//! In: files that the user exported, plain or packed with gzip, or standard input. Out: the workload file and CSVs of
//! values, on disk, and what was chosen for them. It connects to no server.

mod earlier;
pub mod text;

use crate::input_files::why;
use anyhow::{Context, Result, anyhow, bail, ensure};
use earlier::Earlier;
use flate2::bufread::MultiGzDecoder;
use rqps_querylog::{
    Choice, Dialect, Filter, Log, LogFault, Workload, choose, read_pg_stat_statements, read_postgres_log,
    read_slow_log, write,
};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// How a packed file begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// How standard input is named.
const STANDARD_INPUT: &str = "-";

/// Values are of real people: only the user reads them.
const MODE: u32 = 0o600;

/// What the files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Exports of pg_stat_statements as CSV.
    PgStatStatements,
    /// PostgreSQL's csvlog or jsonlog.
    PostgresLog,
    /// Slow logs of MySQL, Percona Server and MariaDB.
    SlowLog,
}

/// What is wished of a first workload.
#[derive(Debug, Clone)]
pub struct Wish {
    /// What the files are.
    pub source: Source,
    /// The files; `-` is standard input.
    pub files: Vec<PathBuf>,
    /// The workload file to write.
    pub out: PathBuf,
    /// How many statements become tests.
    pub top: usize,
    /// Over how many seconds the server saw them, where the user says so.
    pub seconds: Option<f64>,
    /// Only statements of this database.
    pub database: Option<String>,
    /// The share of statements that was logged.
    pub sampled: Option<f64>,
    /// Whether files that are there may be written over.
    pub overwrites: bool,
}

/// What was written.
#[derive(Debug)]
pub struct Written {
    /// The statements.
    pub choice: Choice,
    /// The files, the workload file first.
    pub files: Vec<PathBuf>,
}

/// Every fault of the files.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
struct LogFaults(Vec<LogFault>);

/// Reads the files and writes a first workload.
pub fn first_workload(wish: &Wish) -> Result<Written> {
    let stem = stem(&wish.out);
    ensure!(
        wish.out.extension().is_some_and(|ending| ending == "toml") && !stem.is_empty(),
        "--out {}: a workload file ends in .toml, such as shop.toml",
        wish.out.display()
    );
    let free = |path: &Path| {
        let is_free = wish.overwrites || !path.exists();
        ensure!(
            is_free,
            "{} exists already: name another file with --out, or write over it with --force",
            path.display()
        );
        Ok(())
    };
    free(&wish.out)?;
    let log = read(wish)?;
    let mut choice = choose(&log, wish.top);
    choice.seconds = wish.seconds.or(choice.seconds);
    if let (true, true, Some(wanted)) = (choice.statements.is_empty(), choice.left_out.is_empty(), &wish.database) {
        let databases: Vec<&str> = log.databases.iter().map(String::as_str).collect();
        bail!("no statement of these files is of database {wanted}; they are of {}", databases.join(", "));
    }
    if choice.statements.is_empty() {
        let why: Vec<&str> = choice.left_out.iter().map(|left| left.why.name()).collect();
        bail!("no statement of these files can become a test; what they have: {}", why.join("; "));
    }
    let from: Vec<String> = wish.files.iter().map(|file| shown(file)).collect();
    let workload = write(&choice, &stem, &from.join(", "), &format!("{stem}-values"));
    let files = write_files(wish, &workload, free)?;
    Ok(Written { choice, files })
}

/// The name of a workload file without its ending.
fn stem(out: &Path) -> String {
    out.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Reads all files; the faults of all at once.
fn read(wish: &Wish) -> Result<Log> {
    let dialect = match wish.source {
        Source::PgStatStatements | Source::PostgresLog => Dialect::Postgres,
        Source::SlowLog => Dialect::Mysql,
    };
    let mut log = Log::new(dialect, Filter { database: wish.database.clone(), sampled: wish.sampled });
    let mut faults = Vec::new();
    for file in &wish.files {
        let name = shown(file);
        let input = open(file).map_err(|error| anyhow!("{}", why(file, &error)))?;
        let read = match wish.source {
            Source::PgStatStatements => read_pg_stat_statements(&name, input, &mut log),
            Source::PostgresLog => read_postgres_log(&name, input, &mut log),
            Source::SlowLog => read_slow_log(&name, input, &mut log),
        };
        faults.extend(read.err().into_iter().flatten());
    }
    ensure!(faults.is_empty(), LogFaults(faults));
    Ok(log)
}

fn shown(file: &Path) -> String {
    if file == Path::new(STANDARD_INPUT) { "standard input".to_owned() } else { file.display().to_string() }
}

/// A file, unpacked if it is packed.
fn open(file: &Path) -> io::Result<Box<dyn BufRead>> {
    let mut input: Box<dyn BufRead> = match file {
        file if file == Path::new(STANDARD_INPUT) => Box::new(BufReader::new(io::stdin())),
        file => Box::new(BufReader::new(File::open(file)?)),
    };
    match input.fill_buf()?.starts_with(&GZIP) {
        true => Ok(Box::new(BufReader::new(MultiGzDecoder::new(input)))),
        false => Ok(input),
    }
}

/// Writes the files, once all of them are known to be free.
fn write_files(wish: &Wish, workload: &Workload, free: impl Fn(&Path) -> Result<()>) -> Result<Vec<PathBuf>> {
    let folder = wish.out.parent().unwrap_or(Path::new(""));
    let values: Vec<(PathBuf, &Vec<u8>)> =
        workload.values.iter().map(|(path, bytes)| (folder.join(path), bytes)).collect();
    values.iter().try_for_each(|(path, _)| free(path))?;
    // All are in one folder, which is named after the workload file.
    let earlier = match wish.overwrites {
        true => Earlier::of(&folder.join(format!("{}-values", stem(&wish.out)))),
        false => Earlier::default(),
    };
    for (path, bytes) in &values {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        write_file(path, bytes, wish.overwrites)?;
    }
    write_file(&wish.out, workload.toml.as_bytes(), wish.overwrites)?;
    earlier.remove_but(&values)?;
    if let Some((folder, list)) = earlier::list(&values) {
        write_file(&folder, list.as_bytes(), true)?;
    }
    let values = values.into_iter().map(|(path, _)| path);
    Ok([wish.out.clone()].into_iter().chain(values).collect())
}

fn write_file(path: &Path, bytes: &[u8], overwrites: bool) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).mode(MODE);
    match overwrites {
        true => options.create(true).truncate(true),
        false => options.create_new(true),
    };
    let mut file = options.open(path).with_context(|| path.display().to_string())?;
    file.write_all(bytes).with_context(|| path.display().to_string())
}
