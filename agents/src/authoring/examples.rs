//! Owns the examples of APIs for the API agent (API-Bank, section 4): three services of the catalog near
//! the domain.
//!
//! The paper draws examples from a public list of APIs. That list has names and links only. The catalog
//! has services of the same categories with methods, paths and parameters.

use diorama_engine::embed::{EmbedError, Embedder, dot, embedded};
use diorama_seeds::doc::{ApiDoc, WorldDoc};
use diorama_seeds::world::Report;
use rand::SeedableRng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::domain::Domain;
use crate::catalog;

/// Number of services in a prompt.
const SERVICES: usize = 3;
/// Number of the nearest services from which those are drawn.
const NEAREST_SERVICES: usize = 6;
/// Maximum number of APIs of each service.
const APIS: usize = 5;

/// Reasons for which there are no examples.
#[derive(Debug, thiserror::Error)]
pub enum ExamplesError {
    /// The catalog has a finding.
    #[error(transparent)]
    Catalog(#[from] Report),
    /// The embedding model cannot be loaded.
    #[error(transparent)]
    Embed(#[from] EmbedError),
}

/// Services of the catalog, each with the vector of its description.
#[derive(Debug)]
pub struct Examples {
    services: Vec<(WorldDoc, Vec<f32>)>,
}

impl Examples {
    /// Loads the services of the catalog.
    ///
    /// # Errors
    /// Returns an error if the catalog or the embedding model is damaged.
    pub fn new() -> Result<Self, ExamplesError> {
        let model = embedded()?;
        let service = |doc: WorldDoc| {
            let head = doc.domain.clone().unwrap_or_default();
            let [title, description, sector] = [head.title, head.description, head.sector];
            let vector = model.embed(&[&about(
                &sector.unwrap_or_default(),
                &title.unwrap_or_default(),
                &description.unwrap_or_default(),
            )])?;
            Ok((doc, vector))
        };
        let services = catalog::worlds()?.into_iter().map(service).collect::<Result<_, EmbedError>>()?;
        Ok(Self { services })
    }

    /// Draws services near a domain, and APIs of each. Returns a text per service, which depends on seed
    /// and slot alone.
    ///
    /// # Errors
    /// Returns an error if the model cannot embed the domain.
    pub fn draw(&self, domain: &Domain, seed: u64, slot: u64) -> Result<Vec<String>, EmbedError> {
        let wanted = embedded()?.embed(&[&about(&domain.sector, &domain.title, &domain.description)])?;
        let mut near: Vec<&(WorldDoc, Vec<f32>)> = self.services.iter().collect();
        near.sort_by(|(_, one), (_, other)| dot(other, &wanted).total_cmp(&dot(one, &wanted)));
        near.truncate(NEAREST_SERVICES);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(slot);
        let drawn: Vec<&WorldDoc> = near.sample(&mut rng, SERVICES).map(|(doc, _)| doc).collect();
        Ok(drawn.into_iter().map(|doc| text(doc, &mut rng)).collect())
    }
}

fn about(category: &str, title: &str, description: &str) -> String {
    format!("{}: {title}. {description}", category.replace('_', " "))
}

/// Describes a service in a few lines:
/// `GET /appointments ListAppointments(dentist_id, date): Lists appointments.`
fn text(doc: &WorldDoc, rng: &mut ChaCha8Rng) -> String {
    let line = |api: &ApiDoc| {
        let names: Vec<&str> = api.parameters.keys().map(String::as_str).collect();
        let (method, path) = (api.method.as_str(), &api.path);
        format!("\n{method} {path} {}({}): {}", api.name, names.join(", "), api.description)
    };
    let title = doc.title.clone().unwrap_or_else(|| doc.name.clone());
    let lines: String = doc.apis.sample(rng, APIS).map(line).collect();
    format!("{title}{lines}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn services_are_near_the_category_and_follow_from_seed_and_slot() {
        let examples = Examples::new().unwrap();
        let titles = |category: &str, slot| -> Vec<String> {
            let domain = Domain { sector: category.to_owned(), ..Domain::of_topic(category) };
            let drawn = examples.draw(&domain, 7, slot).unwrap();
            drawn.iter().map(|text| text.lines().next().unwrap_or_default().to_owned()).collect()
        };
        assert_eq!(titles("health", 1), titles("health", 1));
        let check = |category: &str, expect: &str| {
            let found: BTreeSet<String> = (0..12).flat_map(|slot| titles(category, slot)).collect();
            assert!(found.contains(expect) && found.len() <= NEAREST_SERVICES, "{category}: {found:?}");
        };
        check("health", "Dental clinic");
        check("music", "Music streaming");
        check("transportation", "Regional railway");
        check("food_drink", "Recipe kitchen");
        check("jobs", "Job board");
        // The catalog has three services for each category of public APIs.
        for category in super::super::domain::categories() {
            assert_eq!(titles(category, 0).iter().collect::<BTreeSet<_>>().len(), SERVICES, "{category}");
        }
    }

    #[test]
    fn an_example_has_methods_paths_and_parameters() {
        let examples = Examples::new().unwrap();
        for text in examples.draw(&Domain::of_topic("dentists"), 1, 0).unwrap() {
            let lines: Vec<&str> = text.lines().skip(1).collect();
            assert_eq!(lines.len(), APIS, "{text}");
            assert!(lines.iter().all(|line| line.contains(" /") && line.contains("): ")), "{text}");
        }
    }

    #[test]
    fn categories_are_those_of_the_public_list() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/public_apis.csv");
        let Ok(list) = std::fs::read_to_string(path) else {
            println!("skipped: {path} is not here");
            return;
        };
        let listed: BTreeSet<&str> = list.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
        for category in super::super::domain::categories() {
            assert!(listed.contains(category), "{category}");
        }
    }
}
