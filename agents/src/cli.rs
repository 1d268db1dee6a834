//! Owns the command line: one file per subcommand.
//!
//! It is the only part of the library that reads the environment, looks at the terminal or measures time.
//! Data goes to stdout, everything else to stderr.

mod ability;
pub mod bench;
pub mod completions;
pub mod dataset;
pub mod documents;
pub mod embedder;
pub mod error;
pub mod eval;
mod examples;
mod files;
pub mod generate;
pub mod inputs;
pub mod openapi;
mod pages;
pub mod rows;
pub mod schema;
pub mod search;
pub mod serve;
pub mod share;
pub mod task;
pub mod terminal;
pub mod world;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use self::error::CliError;

/// Generate verified tool-use data, and serve stateful mock APIs to train and evaluate agents.
#[derive(Debug, Parser)]
#[command(name = "diorama", version, propagate_version = true, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Arguments {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
    /// Print only JSON on stdout.
    #[arg(long, global = true)]
    pub json: bool,
    /// Print no notes and no progress bars.
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

/// Words that may follow `eval` and are not arguments of `eval run`.
const EVAL_COMMANDS: [&str; 6] = ["run", "compare", "regrade", "show", "export-html", "help"];

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 bad usage, 3 criteria not met.";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Generate tool-use dialogues in which every call was executed.
    Generate(generate::Generate),
    /// View, verify, measure, merge and export datasets.
    Dataset(dataset::DatasetCommand),
    /// Check proposed tasks against the six gates, and measure the grader.
    Task(task::TaskCommand),
    /// Evaluate agents on the tasks of a dataset, compare runs, grade kept runs again.
    Eval(Box<eval::EvalCommand>),
    /// Measure agents and searches on public benchmarks: RestBench, API-Bank, Reverse Chain.
    Bench(bench::Bench),
    /// List, show, check, test, import, generate and build worlds.
    World(world::WorldCommand),
    /// Serve worlds over HTTP: a stateful mock API per session, with tasks and grades.
    Serve(serve::Serve),
    /// Find APIs by what they do, in plain words.
    Search(search::Search),
    /// Print a JSON Schema.
    Schema(schema::Schema),
    /// Print a script that completes commands and options in a shell.
    Completions(completions::Completions),
    /// Answer one request about a document on stdin: the process that a document of several is read in.
    #[command(hide = true)]
    DocumentWorker,
}

/// Output streams of a command.
pub struct Streams<'a> {
    /// Stream for data.
    pub out: &'a mut dyn Write,
    /// Stream for everything else.
    pub err: &'a mut dyn Write,
    /// True if only JSON may be written to `out`.
    pub json: bool,
}

/// End of a command without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandEnd {
    /// The command did its task.
    Met,
    /// The command ran, and its check failed.
    NotMet,
}

/// Runs a command line.
pub fn main(arguments: impl Iterator<Item = OsString>, out: &mut dyn Write, err: &mut dyn Write) -> ExitCode {
    let parsed = match parse(arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            let text = error.render().to_string();
            let asked = !error.use_stderr();
            let _ = if asked { write!(out, "{text}") } else { write!(err, "{text}") };
            return ExitCode::from(if asked { 0 } else { 2 });
        }
    };
    if parsed.quiet {
        terminal::hide_notes_and_bars();
    }
    let mut streams = Streams { out, err, json: parsed.json };
    match run(parsed.command, &mut streams) {
        Ok(CommandEnd::Met) => ExitCode::SUCCESS,
        Ok(CommandEnd::NotMet) => ExitCode::from(3),
        // The reader of the pipe has stopped reading, which is not a failure.
        Err(CliError::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(streams.err, "error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

/// Returns the command of clap, with examples in each help.
fn command() -> clap::Command {
    examples::add_examples(Arguments::command())
}

/// Parses a command line.
///
/// # Errors
/// Returns an error for bad usage, and for a request for the help or the version.
pub fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Arguments, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(with_eval_run(arguments))?;
    Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Adds `run` after an `eval` without a subcommand: `eval data --agent ...` means
/// `eval run data --agent ...`.
fn with_eval_run(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut line: Vec<OsString> = arguments.collect();
    // Only the global options may precede the subcommand.
    let is_global = |argument: &OsString| ["--json", "--quiet", "-q"].iter().any(|global| argument == global);
    let at = line.iter().skip(1).position(|argument| !is_global(argument)).map(|at| at + 1);
    if let Some(at) = at.filter(|at| line[*at] == "eval") {
        let next = line.get(at + 1).and_then(|argument| argument.to_str());
        if next.is_some_and(|next| !EVAL_COMMANDS.contains(&next)) {
            line.insert(at + 1, "run".into());
        }
    }
    line
}

fn run(command: Command, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
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
        Command::Completions(command) => command.run(streams),
        Command::DocumentWorker => documents::answer(streams),
    }
}

impl Streams<'_> {
    /// Prints a value as JSON if the user asked for JSON, else as text.
    ///
    /// # Errors
    /// Returns an error if stdout cannot be written.
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
