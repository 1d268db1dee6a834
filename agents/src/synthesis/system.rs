//! System messages: what an operator tells an assistant before anybody speaks.
//!
//! Owns how they are put together: who the assistant is, the rules of the house, the date, the time and the zone, and how
//! tools are found. Rules come from scenarios, personas from their domains; nothing here knows what is asked.

use diorama_seeds::english;
use diorama_seeds::model::{DomainId, World};
use diorama_seeds::task::Ability;
use diorama_seeds::value::Instant;
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::render;

/// Personas that fit any world.
const GENERIC: [&str; 14] = [
    "You are a helpful assistant with access to tools.",
    "You help people by calling the APIs you are given.",
    "Use the tools to answer; don't guess what they could tell you.",
    "You are an assistant. Call functions where they help, and answer in plain words.",
    "Answer briefly. Look things up before you state them.",
    "You are a customer assistant. Be friendly and to the point.",
    "Carry out what the user asks with the functions at hand. Ask when something needed is missing.",
    "You have tools for the services named below. Say so when a request cannot be carried out.",
    "You are a digital assistant for everyday errands.",
    "Assist the user. Do nothing they have not asked for.",
    "You work at a service desk and can use the systems behind it.",
    "Help the user with the available functions, and report what came of it.",
    "You are connected to live systems: what you change is changed.",
    "Be accurate: names, dates and amounts as the systems show them.",
];

/// The system message of a conversation.
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
        12..35 => GENERIC.choose(rng).map(|text| (*text).to_owned()),
        35..45 => Some(services(world)),
        _ => match domains {
            [domain] => personas.choose(rng).cloned().or_else(|| Some(at(world, *domain, rng))),
            _ if rng.random_bool(0.5) => GENERIC.choose(rng).map(|text| (*text).to_owned()),
            _ => Some(services(world)),
        },
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
        const FOUND: [&str; 4] = [
            "Tools are found with ToolSearcher: a tool can be called once a search has shown it.",
            "Use ToolSearcher to find the functions you need; what it shows can be called.",
            "No function is loaded yet. Search for them with ToolSearcher.",
            "Before calling a function, find it with ToolSearcher.",
        ];
        parts.extend(FOUND.choose(rng).map(|text| (*text).to_owned()));
    }
    let between = if rng.random_bool(0.2) { "\n" } else { " " };
    parts.join(between)
}

/// The system message with what callers are told at the start, and with the tokens of a user whom the operator has signed in, by domain.
#[must_use]
pub fn with_tokens(world: &World, system: String, tokens: &[(DomainId, String)]) -> String {
    let mut system = system;
    for (index, domain) in world.domains.iter().enumerate() {
        let given = world.list_told(DomainId(index as u16));
        let told: Vec<String> =
            given.map(|(name, value)| format!("{name} {}", value.to_text(&world.zone))).collect();
        if told.is_empty() {
            continue;
        }
        system.push_str(&format!(" At the service {} use {}.", name_of(&domain.title), told.join(", ")));
    }
    for (domain, token) in tokens {
        let domain = &world.domains[domain.index()];
        let parameter = domain.auth.as_ref().map_or("token", |auth| &*auth.parameter);
        let parameter = domain.casing.write(parameter);
        system.push_str(&format!(
            " The user is signed in at the service {}: {parameter} {token}.",
            name_of(&domain.title)
        ));
    }
    system
}

/// All services, by title and description.
fn services(world: &World) -> String {
    let services = world.domains.iter().map(|domain| {
        let description = in_short(&domain.description);
        let description = description.trim_end_matches('.');
        if description.is_empty() {
            domain.title.to_string()
        } else {
            format!("{} ({description})", domain.title)
        }
    });
    format!("You are an assistant for these services: {}.", services.collect::<Vec<_>>().join("; "))
}

/// The one service that the conversation is about.
fn at(world: &World, domain: DomainId, rng: &mut ChaCha8Rng) -> String {
    let title = &*world.domains[domain.index()].title;
    let name = name_of(title);
    let a = english::article(&name);
    let ways = if name == title {
        [
            format!("You are the assistant of {name}."),
            format!("Service: {name}. You talk to its users."),
            format!("You answer users of {name}."),
        ]
    } else {
        let is_named = ["service", "services"].iter().any(|noun| name.ends_with(noun));
        let service = if is_named { "" } else { " service" };
        [
            format!("You are the assistant of {a} {name}{service}."),
            format!("Service: {name}. You talk to its users."),
            format!("You answer users of {a} {name} app."),
        ]
    };
    ways.choose(rng).cloned().unwrap_or_default()
}

/// The name of a service inside a sentence: `dental clinic`. A name of its own keeps its capitals: `MySQLManagementClient`,
/// `Gist API`.
fn name_of(title: &str) -> String {
    let is_own = |word: &str| word.chars().skip(1).any(char::is_uppercase);
    if title.split(' ').any(is_own) { title.to_owned() } else { title.to_lowercase() }
}

/// A description without markup. Of a long one the first sentence, or its first words.
fn in_short(description: &str) -> String {
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
    let (day, year) = (civil.day(), civil.year());
    let ways = [
        format!("It is {weekday}, {date}, {time}, time zone {zone}."),
        format!("Today is {weekday}, {day} {month} {year}; it is {time} ({zone})."),
        format!("Current time: {date} {time}, {weekday}, {zone}."),
        format!("Date: {weekday} {day} {month} {year}. Time: {time}. Zone: {zone}."),
        format!("The local time is {time} on {weekday}, {month} {day}, {year} ({zone})."),
        format!("Now: {date}T{time} {zone} ({weekday})."),
    ];
    ways.choose(rng).cloned().unwrap_or_default()
}
