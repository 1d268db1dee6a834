//! Made-up scalars: the same seed gives the same one.

use serde_json::{Map, Value as Json};

use super::check::{number, word};
use super::names::{key_name, plain};
use crate::english::split_identifier;
use crate::pattern::matching_text;
use crate::schema::{Schema, Type};
use crate::value::{Instant, Value, Zone};

const FIRST: [&str; 24] = [
    "amber", "quiet", "northern", "copper", "early", "bright", "hollow", "silver", "open", "winter", "green",
    "lower", "second", "golden", "narrow", "summer", "distant", "plain", "river", "stone", "upper", "gentle",
    "harbour", "maple",
];
const SECOND: [&str; 24] = [
    "garden", "signal", "bridge", "meadow", "report", "lantern", "market", "valley", "summary", "workshop",
    "letter", "orchard", "channel", "station", "notebook", "compass", "studio", "window", "project",
    "archive", "corner", "draft", "terrace", "sketch",
];

/// A seed for what is named inside something.
pub(super) fn mix(seed: u64, name: &str) -> u64 {
    let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
    for byte in name.bytes() {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    }
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// Two words.
pub(super) fn words(seed: u64) -> String {
    let first = FIRST.get(seed as usize % FIRST.len()).copied().unwrap_or_default();
    let second = SECOND.get((seed >> 8) as usize % SECOND.len()).copied().unwrap_or_default();
    format!("{first} {second}")
}

/// A scalar of a type that its schema takes, as far as one is found.
pub(super) fn scalar(
    kind: &str,
    members: &Map<String, Json>,
    name: &str,
    seed: u64,
    now: i64,
    fits: &dyn Fn(&Json) -> bool,
) -> Json {
    match kind {
        "boolean" => Json::Bool(["success", "ok", "succeeded"].contains(&&*plain(name))),
        "integer" | "number" => numeric(kind, members, name, seed, now),
        _ => text(members, name, seed, now, fits),
    }
}

/// The first value of a number or timestamp of a new record.
pub(super) fn first(kind: &str, members: &Map<String, Json>, name: &str, now: i64) -> Option<Json> {
    match (kind, word(members, "format").and_then(Json::as_str)) {
        ("integer" | "number", _) if is_moment(name) => Some(Json::from(now)),
        ("integer" | "number", _) => {
            Some(Json::from(number(members, "minimum").unwrap_or_default().max(0.0).ceil() as i64))
        }
        ("string", Some("date-time" | "datetime")) => Some(Json::String(moment(now))),
        ("string", Some("date")) => Some(Json::String(moment(now).chars().take(10).collect())),
        _ => None,
    }
}

/// True when a number of this name counts seconds from 1970.
fn is_moment(name: &str) -> bool {
    let plain = plain(name);
    ["at", "time", "timestamp", "created", "updated", "expires"].iter().any(|end| plain.ends_with(end))
}

fn numeric(kind: &str, members: &Map<String, Json>, name: &str, seed: u64, now: i64) -> Json {
    let least =
        number(members, "minimum").or_else(|| number(members, "exclusiveMinimum").map(|least| least + 1.0));
    let most =
        number(members, "maximum").or_else(|| number(members, "exclusiveMaximum").map(|most| most - 1.0));
    let moment = is_moment(name);
    let low = least.unwrap_or(if moment { (now - 8_000_000) as f64 } else { 1.0 });
    let span = if moment { 7_000_000.0 } else { 90.0 };
    let high = most.unwrap_or(low.max(0.0) + span).max(low).min(low + span);
    let steps = (high - low).floor().max(0.0) as u64 + 1;
    let mut value = low + (seed % steps) as f64;
    if let Some(step) = number(members, "multipleOf").filter(|step| *step > 0.0) {
        value = (value / step).ceil() * step;
        if most.is_some_and(|most| value > most) {
            value -= step;
        }
    }
    // Between open ends that lie near each other a whole step leads past one of them.
    let (above, below) = (number(members, "exclusiveMinimum"), number(members, "exclusiveMaximum"));
    let past = above.is_some_and(|above| value <= above) || below.is_some_and(|below| value >= below);
    if past && kind != "integer" {
        value = match (above.or(least), below.or(most)) {
            (Some(from), Some(until)) => from.midpoint(until),
            _ => value,
        };
    }
    let whole = kind == "integer" || (value.fract() == 0.0 && number(members, "multipleOf").is_some());
    if whole { Json::from(value.ceil() as i64) } else { Json::from(value) }
}

/// Two texts of so many characters that are drawn from a pattern differ.
const DISTINCT: usize = 16;

/// Texts of usual forms, for patterns that no text can be made of.
fn usual_texts(seed: u64) -> [String; 7] {
    let word = words(seed).replace(' ', "-");
    [
        format!("{word}@example.com"),
        word.clone(),
        format!("arn:aws:service:eu-west-1:123456789012:item/{word}"),
        format!("https://example.com/{word}"),
        format!("{word}.example.com"),
        format!("{}", 100_000 + seed % 900_000),
        format!("{}.{}.{}", seed % 9 + 1, seed % 7, seed % 5),
    ]
}

fn text(members: &Map<String, Json>, name: &str, seed: u64, now: i64, fits: &dyn Fn(&Json) -> bool) -> Json {
    let string = |key: &str| word(members, key).and_then(Json::as_str);
    if let Some(pattern) = string("pattern") {
        let made = (0..8).map(|attempt| matching_text(pattern, mix(seed, "pattern").wrapping_add(attempt)));
        let fitting = made.flatten().map(Json::String).filter(|made| fits(made));
        let own = Json::String(snowflake(seed));
        if string("format") == Some("snowflake") && fits(&own) {
            return own;
        }
        // A long one is nobody else's; else the longest is the least likely to be.
        let length = |made: &Json| made.as_str().map_or(0, str::len);
        let mut longest: Option<Json> = None;
        for made in fitting {
            if length(&made) >= DISTINCT {
                return made;
            }
            longest = longest.filter(|known| length(known) > length(&made)).or(Some(made));
        }
        if let Some(made) = longest {
            return made;
        }
        if let Some(example) = word(members, "example").filter(|example| fits(example)) {
            return example.clone();
        }
        if let Some(usual) = usual_texts(seed).into_iter().map(Json::from).find(|usual| fits(usual)) {
            return usual;
        }
    }
    let word = |place: u64| words(seed >> place).replace(' ', "-");
    // A name that is a format tells it where nothing else does.
    let named =
        || key_name(name).map(|(_, ending)| ending).filter(|ending| ["uuid", "guid"].contains(ending));
    let mut made = match string("format").or_else(named) {
        Some("date-time" | "datetime") => moment(now - (seed % 8_000_000) as i64),
        Some("date") => moment(now - (seed % 8_000_000) as i64).chars().take(10).collect(),
        Some("time") => "09:30:00Z".to_owned(),
        Some("uri" | "url" | "uri-reference" | "iri") => format!("https://example.com/{}", word(4)),
        Some("email" | "idn-email") => format!("{}@example.com", word(4)),
        Some("hostname") => format!("{}.example.com", word(4)),
        Some("ipv4" | "ip") => format!("10.{}.{}.{}", seed % 250, (seed >> 8) % 250, (seed >> 16) % 250 + 1),
        Some("ipv6") => format!("2001:db8::{:x}", seed % 60_000 + 1),
        Some("uuid" | "guid") => {
            let other = mix(seed, "uuid");
            format!(
                "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
                seed >> 32,
                seed & 0xffff,
                (seed >> 16) & 0xfff,
                other & 0xfff,
                other >> 16
            )
        }
        Some("byte" | "base64" | "binary") => "YW1iZXIgZ2FyZGVu".to_owned(),
        Some("snowflake") => snowflake(seed),
        Some("duration") => "PT1H".to_owned(),
        _ if key_name(name).is_some_and(|(_, ending)| matches!(ending, "id" | "sid" | "token")) => {
            format!("{:016x}", seed)
        }
        _ if plain(name).ends_with("url") || plain(name).ends_with("uri") => {
            format!("https://example.com/{}", word(4))
        }
        _ => coded(name, seed, fits).unwrap_or_else(|| plain_text(name, seed)),
    };
    let least = number(members, "minLength").unwrap_or(0.0).min(100_000.0) as usize;
    let is_code = !made.contains(' ') && made.contains(|letter: char| letter.is_ascii_digit());
    for place in 0.. {
        let length = made.chars().count();
        if length >= least {
            break;
        }
        let more = mix(seed, "more").wrapping_add(place);
        made.push_str(&if is_code { format!("{more:016x}") } else { format!(" {}", words(more)) });
        made = made.chars().take(least).collect();
        // A blank at the end is no part of a text.
        if made.ends_with(' ') {
            made.replace_range(made.len() - 1.., "s");
        }
    }
    if let Some(most) = number(members, "maxLength") {
        made = made.chars().take(most as usize).collect();
    }
    Json::String(made)
}

/// Codes by the last words of names, each in two lengths.
const CODES: [(&[&str], &[&str]); 3] = [
    (&["currency"], &["EUR", "USD", "GBP", "CHF", "SEK", "JPY"]),
    (&["country"], &["DE", "FR", "NO", "ES", "IT", "DEU", "FRA", "NOR", "ESP", "ITA"]),
    (&["language", "lang", "locale"], &["en", "de", "fr", "es", "it", "eng", "deu", "fra"]),
];

/// A currency, a country or a language, where a name says that a text is one.
fn coded(name: &str, seed: u64, fits: &dyn Fn(&Json) -> bool) -> Option<String> {
    let said = split_identifier(name);
    let code = |word: &String| ["code", "iso", "iso2", "iso3", "alpha2", "alpha3"].contains(&word.as_str());
    let noun = said.iter().rev().find(|word| !code(word))?;
    let (_, codes) = CODES.iter().find(|(names, _)| names.contains(&noun.as_str()))?;
    let from = seed as usize % 5;
    let turned = codes.iter().cycle().skip(from).take(codes.len());
    turned.map(|code| (*code).to_owned()).find(|code| fits(&Json::from(code.as_str())))
}

/// Words of names whose values people write.
const WRITTEN: [&str; 22] = [
    "name",
    "title",
    "text",
    "word",
    "words",
    "description",
    "message",
    "comment",
    "label",
    "caption",
    "summary",
    "note",
    "phrase",
    "subject",
    "content",
    "body",
    "street",
    "address",
    "city",
    "reason",
    "topic",
    "keyword",
];
/// Characters of a member's name that its value repeats.
const MAX_NAME: usize = 24;

/// A text of which nothing is known but its name: two words where people write it, else the name with a number.
fn plain_text(name: &str, seed: u64) -> String {
    let said = split_identifier(name);
    if said.is_empty() || said.iter().any(|word| WRITTEN.contains(&word.as_str())) {
        return words(seed);
    }
    let called: String = said.join(" ").chars().take(MAX_NAME).collect();
    format!("{} {}", called.trim_end(), seed % 900 + 100)
}

/// An identifier of eighteen digits.
fn snowflake(seed: u64) -> String {
    (100_000_000_000_000_000 + seed % 800_000_000_000_000_000).to_string()
}

/// The seconds from 1970 to a moment.
pub(super) fn seconds(text: &str) -> Option<i64> {
    match Schema::of(Type::DateTime).parse_text(text, &Zone::utc()) {
        Ok(Value::DateTime(Instant(seconds))) => Some(seconds),
        _ => None,
    }
}

/// A moment as RFC 3339 writes it.
fn moment(seconds: i64) -> String {
    Value::DateTime(Instant(seconds)).to_text(&Zone::utc())
}
