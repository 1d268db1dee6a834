//! Writes system messages: the operator's instructions before the conversation.
//!
//! Owns their composition: the assistant's identity, the policy, the date, the time and the zone, and the way
//! to find tools. Rules come from scenarios, and personas from their domains. This module does not know the
//! requests.

use diorama_seeds::english;
use diorama_seeds::model::{DomainId, World};
use diorama_seeds::task::Ability;
use diorama_seeds::value::Instant;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::render;
use super::speech::{SPEECH, fill};
use crate::draws::choose;

/// Returns the system message of a conversation. `domains` are those of its tools, with the domain of its
/// first goal first.
/// `personas` are the operators' descriptions of that domain's assistants.
#[must_use]
pub fn message(
    (world, clock): (&World, Instant),
    domains: &[DomainId],
    personas: &[String],
    rules: &str,
    ability: Ability,
    rng: &mut ChaCha8Rng,
) -> String {
    let persona = match rng.random_range(0..100) {
        0..12 => None,
        12..35 => choose(&SPEECH.assistants, rng).cloned(),
        35..45 => Some(services(world, domains)),
        _ => domains.split_first().map(|(own, others)| {
            let own = choose(personas, rng).cloned().unwrap_or_else(|| describe_service(world, *own, rng));
            let others = name_others(world, others, rng);
            [end_sentence(own), others].join(" ").trim_end().to_owned()
        }),
    };
    let mut parts: Vec<String> = persona.into_iter().collect();
    if !rules.is_empty() {
        parts.push(rules.to_owned());
    }
    let moment = moment(world, clock, rng);
    // The clock stands at the end, or first.
    if rng.random_bool(0.75) {
        parts.push(moment)
    } else {
        parts.insert(0, moment)
    }
    if ability != Ability::Call {
        parts.extend(choose(&SPEECH.tools_are_found, rng).cloned());
    }
    let between = if rng.random_bool(0.2) { "\n" } else { " " };
    // A policy is a list, so it stands apart.
    let between = if rules.is_empty() { between } else { "\n\n" };
    parts.into_iter().map(end_sentence).collect::<Vec<_>>().join(between)
}

/// Adds a stop to a part of a message without one.
fn end_sentence(mut part: String) -> String {
    if !part.ends_with(['.', '!', '?', ':']) {
        part.push('.');
    }
    part
}

/// Names the other services of the tools; empty without any.
fn name_others(world: &World, domains: &[DomainId], rng: &mut ChaCha8Rng) -> String {
    let names: Vec<String> =
        domains.iter().map(|domain| name_of(&world.domains[domain.index()].title)).collect();
    match choose(&SPEECH.other_services, rng) {
        Some(words) if !names.is_empty() => fill(words, &[("services", &english::enumerate(&names))]),
        _ => String::new(),
    }
}

/// Adds the given values of callers to the system message, and the tokens of a user whom the operator has
/// signed in, by domain.
#[must_use]
pub fn with_tokens(world: &World, system: String, tokens: &[(DomainId, String)]) -> String {
    let mut system = system;
    // A sentence stands apart from a list.
    let between = if system.contains("\n\n") { "\n\n" } else { " " };
    for (index, domain) in world.domains.iter().enumerate() {
        let given = world.list_told(DomainId(index as u16));
        let told: Vec<String> =
            given.map(|(name, value)| format!("{name} {}", value.to_text(&world.zone))).collect();
        if told.is_empty() {
            continue;
        }
        let (name, told) = (name_of(&domain.title), told.join(", "));
        system.push_str(&format!("{between}At the service {name} use {told}."));
    }
    for (domain, token) in tokens {
        let domain = &world.domains[domain.index()];
        let parameter = domain.auth.as_ref().map_or("token", |auth| &*auth.parameter);
        let parameter = domain.casing.write(parameter);
        system.push_str(&format!(
            "{between}The user is signed in at the service {}: {parameter} {token}.",
            name_of(&domain.title)
        ));
    }
    system
}

/// Lists services by title and description.
fn services(world: &World, domains: &[DomainId]) -> String {
    let services = domains.iter().map(|domain| &world.domains[domain.index()]).map(|domain| {
        let description = shorten(&domain.description);
        let description = description.trim_end_matches('.');
        if description.is_empty() {
            domain.title.to_string()
        } else {
            format!("{} ({description})", domain.title)
        }
    });
    fill(&SPEECH.services, &[("services", &services.collect::<Vec<_>>().join("; "))])
}

/// Describes the one service of the conversation.
fn describe_service(world: &World, domain: DomainId, rng: &mut ChaCha8Rng) -> String {
    let title = &*world.domains[domain.index()].title;
    let name = name_of(title);
    let a = english::article(&name);
    let is_named = ["service", "services"].iter().any(|noun| name.ends_with(noun));
    let service = if is_named { "" } else { " service" };
    let ways = if name == title { &SPEECH.named_service } else { &SPEECH.service };
    let words = choose(ways, rng).map_or("", String::as_str);
    fill(words, &[("a", a), ("name", &name), ("service", service)])
}

/// Returns the name of a service inside a sentence: `dental clinic`.
/// A proper name keeps its capitals: `MySQLManagementClient`, `Gist API`.
fn name_of(title: &str) -> String {
    let is_own = |word: &str| word.chars().skip(1).any(char::is_uppercase);
    if title.split(' ').any(is_own) { title.to_owned() } else { title.to_lowercase() }
}

/// Removes the markup from a description. A long one is cut to its first sentence, or at its last comma.
fn shorten(description: &str) -> String {
    const MAX_CHARS: usize = 240;
    let mut text = String::new();
    let mut is_tag = false;
    for c in description.chars() {
        match c {
            '<' => is_tag = true,
            '>' if is_tag => is_tag = false,
            c if !is_tag => text.push(c),
            _ => {}
        }
    }
    if text.chars().count() <= MAX_CHARS {
        return text;
    }
    let sentence = text.split_once(". ").map_or(&*text, |(first, _)| first);
    if sentence.chars().count() <= MAX_CHARS {
        return sentence.to_owned();
    }
    let short: String = sentence.chars().take(MAX_CHARS).collect();
    let (kept, _) = short.rsplit_once(", ").or_else(|| short.rsplit_once(' ')).unwrap_or((&short, ""));
    kept.to_owned()
}

/// Returns the date, the time and the zone.
fn moment(world: &World, clock: Instant, rng: &mut ChaCha8Rng) -> String {
    let (date, time) = (world.zone.date_of(clock), world.zone.time_of(clock));
    let (weekday, zone) = (render::weekday(date), world.zone.name());
    let civil = date.civil();
    let month = render::MONTHS[(civil.month() as usize - 1) % 12];
    let (day, year) = (civil.day().to_string(), civil.year().to_string());
    let (date, time) = (date.to_string(), time.to_string());
    let words = choose(&SPEECH.clock, rng).map_or("", String::as_str);
    let values = [("weekday", weekday), ("date", &date), ("time", &time), ("zone", zone), ("day", &day)];
    fill(words, &[&values[..], &[("month", month), ("year", &year)]].concat())
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn a_system_message_has_whole_sentences_and_names_each_service() {
        let names = ["hotel_rooms", "job_board"];
        let docs: Vec<_> = names.iter().map(|name| crate::catalog::world(name).unwrap().unwrap()).collect();
        let doc = diorama_seeds::compose::compose("both", &docs).unwrap();
        let world = diorama_seeds::world::compile(&doc).unwrap();
        let persona = "You help the guests of a hotel".to_owned();
        let domains = [DomainId(0), DomainId(1)];
        let mut named = 0;
        for seed in 0..60 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let personas = std::slice::from_ref(&persona);
            let text = message(
                (&world, world.clock),
                &domains,
                personas,
                "Style: plain",
                Ability::RetrieveCall,
                &mut rng,
            );
            assert!(text.contains("Style: plain."), "{text}");
            if text.contains(&persona) {
                assert!(
                    text.contains("You help the guests of a hotel.") && text.contains("job board"),
                    "{text}"
                );
                named += 1;
            }
        }
        assert!(named > 10);
    }
}
