//! Owns the command `diorama world scaffold`.

use std::path::PathBuf;

use clap::Args;
use diorama_seeds::doc::ScenariosDoc;
use diorama_seeds::world;
use serde_json::json;

use crate::cli::error::CliError;
use crate::cli::inputs::{located, read_world};
use crate::cli::{CommandEnd, Streams};
use crate::scenarios::Shares;
use crate::scenarios::by_rule;
use crate::worlds::world::WorldTemplate;

/// Print scenarios for a world of one domain, written by rule, as a start for a person or a model.
///
/// The output is a scenario file (see docs/scenarios.md). Comments at its end say for which APIs none was written, and why.
#[derive(Debug, Args)]
pub(super) struct Scaffold {
    /// World file, or the name of a world in the catalog.
    #[arg(value_name = "FILE|NAME")]
    world: PathBuf,
}

impl Scaffold {
    pub(super) fn run(self, streams: &mut Streams<'_>) -> Result<CommandEnd, CliError> {
        let doc = read_world(&self.world)?;
        let template = WorldTemplate::new(&doc, 0x5eed, &Shares::new(), &[])
            .map_err(|report| located(&self.world, report))?;
        let domains = template.world().domains.len();
        if domains != 1 {
            return Err(CliError::Usage(format!(
                "found {domains} domains in the world, expected one: a scenario file belongs to one domain"
            )));
        }
        let (written, unwritten) = by_rule::scenarios(&template)?;
        let name_of = |api| template.world().api(api).name.to_string();
        let without: Vec<(String, &String)> =
            unwritten.iter().map(|(api, reason)| (name_of(*api), reason)).collect();
        let file = ScenariosDoc {
            scenarios: written.into_iter().map(|one| one.doc).collect(),
            ..ScenariosDoc::default()
        };
        let mut text = world::beside_to_yaml(&template.name, &file)?;
        for (api, reason) in &without {
            text.push_str(&format!("# {api}: {}\n", reason.lines().next().unwrap_or_default()));
        }
        streams.print(&json!({ "file": file, "without": without }), || text)?;
        Ok(CommandEnd::Met)
    }
}
