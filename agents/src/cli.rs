//! The command line: one file per subcommand.
//!
//! The only part of the library that reads the environment, looks at the terminal or measures time. Data goes to
//! stdout, everything else to stderr.

mod at_once;
pub mod bench;
pub mod dataset;
pub mod documents;
pub mod embedder;
pub mod error;
pub mod eval;
mod files;
pub mod generate;
pub mod inputs;
pub mod openapi;
pub mod schema;
pub mod search;
pub mod serve;
pub mod task;
pub mod terminal;
pub mod world;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::error::CliError;

/// Worlds of APIs that behave: make tool-use dialogues, serve them live, evaluate agents.
#[derive(Debug, Parser)]
#[command(name = "diorama", version, propagate_version = true, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Arguments {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
    /// Print JSON only on stdout.
    #[arg(long, global = true)]
    pub json: bool,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 bad usage, 3 criteria not met.";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make tool-use dialogues in which every call was executed.
    Generate(generate::Generate),
    /// Verify, measure, merge, export and view datasets.
    Dataset(dataset::DatasetCommand),
    /// Check proposed tasks, and measure the grader.
    Task(task::TaskCommand),
    /// Run agents through the tasks of a dataset, compare runs, grade kept runs again.
    Eval(Box<eval::EvalCommand>),
    /// Measure agents and searches on public benchmarks.
    Bench(bench::Bench),
    /// List, show, check, test, import, generate and build worlds.
    World(world::WorldCommand),
    /// Serve worlds over HTTP: REST APIs for agents, sessions and grades for admins.
    Serve(serve::Serve),
    /// Find APIs by what they do.
    Search(search::Search),
    /// Print a JSON Schema.
    Schema(schema::Schema),
    /// Answer one request about a document on stdin: the process that a document of several is read in.
    #[command(hide = true)]
    DocumentWorker,
}

/// Where a command writes.
pub struct Streams<'a> {
    /// Data.
    pub out: &'a mut dyn Write,
    /// Everything else.
    pub err: &'a mut dyn Write,
    /// True if only JSON may be written to `out`.
    pub json: bool,
}

/// How a command ended, apart from errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// As asked.
    Met,
    /// It ran, and what it checked does not hold.
    NotMet,
}

/// Runs a command line.
pub fn main(arguments: impl Iterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> ExitCode {
    let parsed = match Arguments::try_parse_from(with_eval_run(arguments)) {
        Ok(parsed) => parsed,
        Err(error) => {
            let text = error.render().to_string();
            let asked = !error.use_stderr();
            let _ = if asked { write!(out, "{text}") } else { write!(err, "{text}") };
            return ExitCode::from(if asked { 0 } else { 2 });
        }
    };
    let mut streams = Streams { out, err, json: parsed.json };
    match run(parsed.command, &mut streams) {
        Ok(Done::Met) => ExitCode::SUCCESS,
        Ok(Done::NotMet) => ExitCode::from(3),
        // The reader of a pipe has seen enough; that is no failure.
        Err(CliError::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(streams.err, "error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

/// Adds `run` after an `eval` that is followed by an option: `eval --agent ...` means `eval run --agent ...`.
fn with_eval_run(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut line: Vec<OsString> = arguments.collect();
    // Only the global option may stand before the subcommand.
    let at = line.iter().skip(1).position(|argument| argument != "--json").map(|at| at + 1);
    if let Some(at) = at.filter(|at| line[*at] == "eval") {
        let option = line.get(at + 1).and_then(|argument| argument.to_str());
        if option.is_some_and(|option| option.starts_with('-') && !matches!(option, "-h" | "--help")) {
            line.insert(at + 1, "run".into());
        }
    }
    line
}

fn run(command: Command, streams: &mut Streams<'_>) -> Result<Done, CliError> {
    match command {
        Command::Generate(command) => command.run(streams),
        Command::Dataset(command) => command.run(streams),
        Command::Task(command) => command.run(streams),
        Command::Eval(command) => command.run(streams),
        Command::Bench(command) => command.run(streams),
        Command::World(command) => command.run(streams),
        Command::Serve(command) => command.run(streams),
        Command::Search(command) => command.run(streams),
        Command::Schema(command) => command.run(streams),
        Command::DocumentWorker => documents::worker::run(streams),
    }
}

impl Streams<'_> {
    /// Prints a value as JSON when JSON is asked for, else as the text.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub fn print<T: serde::Serialize>(
        &mut self,
        value: &T,
        text: impl FnOnce() -> String,
    ) -> Result<(), CliError> {
        if self.json {
            serde_json::to_writer_pretty(&mut self.out, value)
                .map_err(|error| CliError::Output(error.into()))?;
            writeln!(self.out)?;
        } else {
            write!(self.out, "{}", text())?;
        }
        self.out.flush()?;
        Ok(())
    }
}
