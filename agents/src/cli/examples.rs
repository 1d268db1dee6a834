//! Owns the examples of command lines at the end of each command's help.

use clap::Command;

/// Examples of each command, by its path below `diorama`.
const EXAMPLES: [(&str, &[&str]); 31] = [
    (
        "generate",
        &[
            "diorama generate --out dataset",
            "diorama generate -n 20000 --seed 7 --threads 8 --out s3://bucket/rows",
            "diorama generate city_library hotel_rooms -n 200 --ability call --out calls",
            "diorama generate openapi.yaml -n 100 --out rows",
        ],
    ),
    ("dataset verify", &["diorama dataset verify dataset"]),
    ("dataset stats", &["diorama dataset stats dataset", "diorama dataset stats dataset --json"]),
    ("dataset merge", &["diorama dataset merge s3://bucket/rows"]),
    (
        "dataset export",
        &[
            "diorama dataset export dataset --split train --format trl --answers structured --out rows.jsonl",
            "diorama dataset export dataset --format openai --limit 10 --out - | head -n 1",
        ],
    ),
    (
        "dataset view",
        &[
            "diorama dataset view dataset --domain city_library --limit 3",
            "diorama dataset view dataset --web",
        ],
    ),
    (
        "task check",
        &["diorama task check candidate.json", "diorama task check candidate.json --world shop.yaml"],
    ),
    ("task grade", &["diorama task grade episodes.jsonl --tasks dataset"]),
    (
        "eval run",
        &[
            "diorama eval dataset --agent oracle",
            "diorama eval dataset --agent react --base-url http://127.0.0.1:8000/v1 --model MODEL --trials 4 --out run",
        ],
    ),
    ("eval compare", &["diorama eval compare run-a run-b"]),
    ("eval regrade", &["diorama eval regrade run/episodes.jsonl --tasks dataset"]),
    ("eval show", &["diorama eval show run --tasks dataset"]),
    ("eval export-html", &["diorama eval export-html run --tasks dataset --out pages"]),
    ("bench restbench", &["diorama bench restbench tmdb.json queries.json"]),
    ("bench api-bank", &["diorama bench api-bank api-bank"]),
    (
        "bench reverse-chain",
        &[
            "diorama bench reverse-chain instances.json --agent reverse-chain --base-url http://127.0.0.1:8000/v1 --model MODEL",
        ],
    ),
    ("bench search", &["diorama bench search instances.json"]),
    ("world list", &["diorama world list", "diorama world list --json"]),
    ("world check", &["diorama world check shop.yaml"]),
    ("world show", &["diorama world show city_library"]),
    ("world build", &["diorama world build city_library --seed 7 > library.json"]),
    ("world test", &["diorama world test shop.yaml", "diorama world test shop.yaml --tries 8"]),
    ("world scaffold", &["diorama world scaffold shop.yaml > shop.scenarios.yaml"]),
    (
        "world generate",
        &["diorama world generate --base-url http://127.0.0.1:8000/v1 --model MODEL --out worlds"],
    ),
    (
        "world paraphrase",
        &[
            "diorama world paraphrase shop.yaml --base-url http://127.0.0.1:8000/v1 --model MODEL --out shop.words.yaml",
        ],
    ),
    (
        "world import",
        &["diorama world import openapi.yaml --out shop.yaml", "diorama world import documents --out worlds"],
    ),
    (
        "serve",
        &[
            "diorama serve city_library",
            "diorama serve openapi.yaml --open",
            "diorama serve --tasks dataset --gym nemo-gym",
        ],
    ),
    ("search", &["diorama search renew a book", "diorama search move an appointment --json"]),
    ("schema", &["diorama schema world > world.schema.json"]),
    ("completions", &["diorama completions bash"]),
    ("eval", &["diorama eval dataset --agent oracle", "diorama eval compare run-a run-b"]),
];

/// Adds the examples to the help of each command.
pub(super) fn add_examples(command: Command) -> Command {
    add_below(command, "")
}

fn add_below(command: Command, above: &str) -> Command {
    command.mut_subcommands(|command| {
        let path = format!("{above} {}", command.get_name()).trim_start().to_owned();
        let command = match EXAMPLES.iter().find(|(known, _)| *known == path) {
            Some((_, lines)) => command.after_help(format!("Examples:\n  {}", lines.join("\n  "))),
            None => command,
        };
        add_below(command, &path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the paths of the commands without subcommands.
    fn leaves(command: &Command, above: &str) -> Vec<String> {
        let below = command.get_subcommands().filter(|command| !command.is_hide_set());
        let paths = below.flat_map(|command| {
            let path = format!("{above} {}", command.get_name()).trim_start().to_owned();
            if command.has_subcommands() { leaves(command, &path) } else { vec![path] }
        });
        paths.collect()
    }

    #[test]
    fn each_command_has_examples_that_it_accepts() {
        let command = super::super::command();
        for path in leaves(&command, "") {
            assert!(EXAMPLES.iter().any(|(known, _)| *known == path), "`{path}` has no example");
        }
        for line in EXAMPLES.iter().flat_map(|(_, lines)| *lines) {
            let words = line.split(['|', '>']).next().unwrap_or_default().split_whitespace();
            let parsed = super::super::parse(words.map(std::ffi::OsString::from));
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
    }
}
