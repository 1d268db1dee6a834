//! System messages: what an operator tells an assistant before anybody speaks.
//!
//! Owns how they are put together: who the assistant is, the rules of the house, the date, the time and the zone, and how
//! tools are found. Rules come from scenarios, personas from their domains; nothing here knows what is asked.

use diorama_seeds::english;
use diorama_seeds::model::{DomainId, World};
use diorama_seeds::task::Ability;
use diorama_seeds::value::Instant;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::render;
use super::speech::{SPEECH, fill};
use crate::draws::choose;

/// The system message of a conversation. `domains` are those of its tools, the domain of its first matter before others, and `personas` are
/// what operators of that one tell.
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
    // A policy is a list.
    let between = if rules.is_empty() { between } else { "\n\n" };
    parts.into_iter().map(end_sentence).collect::<Vec<_>>().join(between)
}

/// A part of a message, with a stop at its end.
fn end_sentence(mut part: String) -> String {
    if !part.ends_with(['.', '!', '?', ':']) {
        part.push('.');
    }
    part
}

/// Says which other services the tools are of; empty where they are of none.
fn name_others(world: &World, domains: &[DomainId], rng: &mut ChaCha8Rng) -> String {
    let names: Vec<String> =
        domains.iter().map(|domain| name_of(&world.domains[domain.index()].title)).collect();
    match choose(&SPEECH.other_services, rng) {
        Some(words) if !names.is_empty() => fill(words, &[("services", &english::enumerate(&names))]),
        _ => String::new(),
    }
}

/// The system message with what callers are told at the start, and with the tokens of a user whom the operator has signed in, by domain.
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

/// Services, by title and description.
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

/// Describes the one service that the conversation is about.
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

/// The name of a service inside a sentence: `dental clinic`. A name of its own keeps its capitals: `MySQLManagementClient`,
/// `Gist API`.
fn name_of(title: &str) -> String {
    let is_own = |word: &str| word.chars().skip(1).any(char::is_uppercase);
    if title.split(' ').any(is_own) { title.to_owned() } else { title.to_lowercase() }
}

/// Takes the markup out of a description. Of a long one it keeps the first sentence, or its first words.
fn shorten(description: &str) -> String {
    const MAX_CHARS: usize = 160;
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
    short.rsplit_once(' ').map_or(short.clone(), |(words, _)| format!("{words} ..."))
}

/// The date, the time and the zone.
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
    fn an_operator_names_the_services_whose_tools_there_are_in_whole_sentences() {
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
