//! Owns the generation of scalars. Equal seeds give equal values.

use serde_json::{Map, Value as Json};

use super::check::{number, word};
use super::format::{is_mail_date, mail_date};
use super::names::{key_name, plain};
use crate::agreement::{Lies, Moment, MomentKind};
use crate::english::split_identifier;
use crate::materialise::{Sampler, range_of_member, slug_of};
use crate::pattern::matching_text;
use crate::value::{Date, Instant, Value, Zone};

/// Seconds of a day.
pub(super) const DAY: i64 = 86_400;
/// Maximum number of seconds between a generated timestamp and the current time.
const PAST: i64 = 8_000_000;
/// Maximum number of characters of a member's name in its value.
const MAX_NAME: usize = 24;

/// Purpose of a generated scalar: the member by its name, inside an object by its name.
#[derive(Clone, Copy)]
pub(super) struct Subject<'s> {
    pub(super) name: &'s str,
    pub(super) of: &'s str,
    pub(super) seed: u64,
    pub(super) now: i64,
    pub(super) sampler: &'s Sampler,
}

/// Returns a seed for a named part of an object.
pub(super) fn mix(seed: u64, name: &str) -> u64 {
    let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
    for byte in name.bytes() {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    }
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// Returns a scalar of a type that fits the schema, if it finds one.
pub(super) fn scalar(
    kind: &str,
    members: &Map<String, Json>,
    subject: &Subject<'_>,
    fits: &dyn Fn(&Json) -> bool,
) -> Json {
    match kind {
        "boolean" => Json::Bool(["success", "ok", "succeeded"].contains(&&*plain(subject.name))),
        "integer" | "number" => numeric(kind, members, subject, fits),
        _ => text(members, subject, fits),
    }
}

/// Returns the initial value of a number or timestamp in a new record.
pub(super) fn first(kind: &str, members: &Map<String, Json>, name: &str, now: i64) -> Option<Json> {
    match (kind, word(members, "format").and_then(Json::as_str)) {
        ("integer" | "number", _) if is_moment(name) => Some(Json::from(now)),
        ("integer" | "number", _) => {
            Some(Json::from(number(members, "minimum").unwrap_or_default().max(0.0).ceil() as i64))
        }
        ("string", Some("date-time" | "datetime")) => Some(Json::String(moment(now))),
        ("string", Some("date")) => Some(Json::String(day(now))),
        ("string", Some(format)) if is_mail_date(format) => mail_date(now).map(Json::String),
        _ => None,
    }
}

/// Returns true if a number of this name is a Unix time in seconds.
pub(super) fn is_moment(name: &str) -> bool {
    let plain = plain(name);
    ["at", "time", "timestamp", "created", "updated", "expires"].iter().any(|end| plain.ends_with(end))
        || Moment::kind_by_name(name) == Some(MomentKind::DateTime)
}

fn numeric(
    kind: &str,
    members: &Map<String, Json>,
    subject: &Subject<'_>,
    fits: &dyn Fn(&Json) -> bool,
) -> Json {
    let Subject { name, seed, now, .. } = *subject;
    if kind == "number"
        && let Some(degree) =
            subject.sampler.coordinate(name, seed).map(Json::from).filter(|degree| fits(degree))
    {
        return degree;
    }
    let least =
        number(members, "minimum").or_else(|| number(members, "exclusiveMinimum").map(|least| least + 1.0));
    let most =
        number(members, "maximum").or_else(|| number(members, "exclusiveMaximum").map(|most| most - 1.0));
    let [from, to, step] = match range_of_member(name, kind == "integer") {
        _ if is_moment(name) => [(now - PAST) as f64, (now - PAST / 8) as f64, 1.0],
        Some(range) => range,
        None => [1.0, 90.0, 1.0],
    };
    // If the limits exclude the usual range, they define the range.
    let low = least.map_or(from, |least| if least < to { least.max(from) } else { least });
    let low = most.map_or(low, |most| if most < low { least.unwrap_or(most.min(0.0)) } else { low });
    let high = most.unwrap_or(low.max(0.0) + (to - from)).max(low).min(low + (to - from));
    let multiple = number(members, "multipleOf").filter(|step| *step > 0.0);
    let step = multiple.unwrap_or(if step <= high - low { step } else { 1.0 });
    let steps = ((high - low) / step + 1e-9).floor().max(0.0) as u64 + 1;
    let mut value = multiple.map_or(low, |step| (low / step).ceil() * step) + (seed % steps) as f64 * step;
    if most.is_some_and(|most| value > most) {
        value -= step;
    }
    // If two exclusive limits lie close together, a whole step exceeds one of them.
    let (above, below) = (number(members, "exclusiveMinimum"), number(members, "exclusiveMaximum"));
    let past = above.is_some_and(|above| value <= above) || below.is_some_and(|below| value >= below);
    if past && kind != "integer" {
        value = match (above.or(least), below.or(most)) {
            (Some(from), Some(until)) => from.midpoint(until),
            _ => value,
        };
    }
    let whole = kind == "integer" || (value.fract() == 0.0 && multiple.is_some());
    if whole { Json::from(value.ceil() as i64) } else { Json::from((value * 1e6).round() / 1e6) }
}

/// Minimum number of characters for which two texts drawn from a pattern are taken to differ.
const DISTINCT: usize = 16;

/// Returns texts of common forms, for patterns that the generator cannot match.
fn usual_texts(seed: u64) -> [String; 7] {
    let word = slug_of(seed);
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

fn of_pattern(
    pattern: &str,
    members: &Map<String, Json>,
    seed: u64,
    fits: &dyn Fn(&Json) -> bool,
) -> Option<Json> {
    let made = (0..8).map(|attempt| matching_text(pattern, mix(seed, "pattern").wrapping_add(attempt)));
    let fitting = made.flatten().map(Json::String).filter(|made| fits(made));
    let own = Json::String(snowflake(seed));
    if word(members, "format").is_some_and(|format| format == "snowflake") && fits(&own) {
        return Some(own);
    }
    // A long text is unique. Otherwise the longest text is least likely to repeat.
    let length = |made: &Json| made.as_str().map_or(0, str::len);
    let mut longest: Option<Json> = None;
    for made in fitting {
        if length(&made) >= DISTINCT {
            return Some(made);
        }
        longest = longest.filter(|known| length(known) > length(&made)).or(Some(made));
    }
    let example = || word(members, "example").filter(|example| fits(example)).cloned();
    let usual = || usual_texts(seed).into_iter().map(Json::from).find(|usual| fits(usual));
    longest.or_else(example).or_else(usual)
}

fn text(members: &Map<String, Json>, subject: &Subject<'_>, fits: &dyn Fn(&Json) -> bool) -> Json {
    let Subject { name, seed, now, .. } = *subject;
    let string = |key: &str| word(members, key).and_then(Json::as_str);
    if let Some(pattern) = string("pattern")
        && let Some(made) =
            told_text(subject, fits).map(Json::String).or_else(|| of_pattern(pattern, members, seed, fits))
    {
        return made;
    }
    // The name of a member is its format if the schema gives none.
    let named =
        || key_name(name).map(|(_, ending)| ending).filter(|ending| ["uuid", "guid"].contains(ending));
    let told = |name: &str| told_text(&Subject { name, ..*subject }, fits);
    let mut made = match string("format").or_else(named) {
        Some("date-time" | "datetime") => moment(made_moment(name, seed, now)),
        Some("date") => day(made_moment(name, seed, now)),
        Some(format) if is_mail_date(format) => {
            mail_date(made_moment(name, seed, now)).unwrap_or_else(|| plain_text(name, seed))
        }
        Some("time") => "09:30:00Z".to_owned(),
        Some("uri" | "url" | "uri-reference" | "iri") => format!("https://example.com/{}", slug_of(seed)),
        Some("email" | "idn-email") => {
            told("email").unwrap_or_else(|| format!("{}@example.com", slug_of(seed)))
        }
        Some("hostname") => format!("{}.example.com", slug_of(seed)),
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
        _ => meant_text(subject, fits).unwrap_or_else(|| plain_text(name, seed)),
    };
    let least = number(members, "minLength").unwrap_or(0.0).min(100_000.0) as usize;
    for place in 0.. {
        let length = made.chars().count();
        if length >= least {
            break;
        }
        let more = mix(seed, "more").wrapping_add(place);
        let is_code = !made.contains(' ');
        made.push_str(&if is_code { format!("{more:016x}") } else { format!(" {}", slug_of(more)) });
        made = made.chars().take(least).collect();
        // A text must not end with a space.
        if made.ends_with(' ') {
            made.replace_range(made.len() - 1.., "s");
        }
    }
    if let Some(most) = number(members, "maxLength") {
        made = made.chars().take(most as usize).collect();
    }
    Json::String(made)
}

/// Returns the text of a member whose name has a meaning: a key, a timestamp, an address, or a name in the
/// tables.
pub(super) fn meant_text(subject: &Subject<'_>, fits: &dyn Fn(&Json) -> bool) -> Option<String> {
    let Subject { name, seed, now, .. } = *subject;
    if key_name(name).is_some_and(|(_, ending)| matches!(ending, "id" | "sid" | "token")) {
        return Some(format!("{seed:016x}"));
    }
    if let Some(kind) = Moment::kind_by_name(name) {
        let at = made_moment(name, seed, now);
        return Some(if kind == MomentKind::Date { day(at) } else { moment(at) });
    }
    if ["url", "uri"].iter().any(|end| plain(name).ends_with(end)) {
        return Some(format!("https://example.com/{}", slug_of(seed)));
    }
    told_text(subject, fits)
}

fn told_text(subject: &Subject<'_>, fits: &dyn Fn(&Json) -> bool) -> Option<String> {
    let Subject { name, of, seed, sampler, .. } = *subject;
    sampler.text(name, of, seed, &|text| fits(&Json::from(text)))
}

/// Returns a text made of the member's name and a number.
pub(super) fn plain_text(name: &str, seed: u64) -> String {
    let called: String = split_identifier(name).join(" ").chars().take(MAX_NAME).collect();
    let called = if called.is_empty() { "text" } else { called.trim_end() };
    format!("{called} {}", seed % 900 + 100)
}

/// Returns an identifier of eighteen digits.
fn snowflake(seed: u64) -> String {
    (100_000_000_000_000_000 + seed % 800_000_000_000_000_000).to_string()
}

/// Returns a generated timestamp for a name, as Unix time in seconds.
fn made_moment(name: &str, seed: u64, now: i64) -> i64 {
    let said = Moment::named(name);
    match said.lies {
        Lies::Future => now + DAY * (1 + (seed % 60) as i64),
        _ if said.is_birth() => now - 365 * DAY * (20 + (seed % 50) as i64) - (seed % 31_000_000) as i64,
        _ => now - (seed % PAST as u64) as i64,
    }
}

/// Returns the Unix time in seconds of a timestamp, or of the beginning of a date.
pub(super) fn seconds(text: &str) -> Option<i64> {
    let of_day = || Date::parse(text).map(|day| i64::from(day.0) * DAY);
    Zone::utc().parse_instant(text).map(|Instant(seconds)| seconds).or_else(of_day)
}

/// Returns a timestamp in RFC 3339 format.
pub(super) fn moment(seconds: i64) -> String {
    Value::DateTime(Instant(seconds)).to_text(&Zone::utc())
}

/// Returns the date of a timestamp.
pub(super) fn day(seconds: i64) -> String {
    moment(seconds).chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_days_have_seconds() {
        let check = |text: &str, expect: Option<i64>| assert_eq!(seconds(text), expect, "{text}");
        check("2026-03-02", Some(1_772_409_600));
        check("2026-03-02T00:00:01Z", Some(1_772_409_601));
        check("2026-03-02T01:00:00+01:00", Some(1_772_409_600));
        check("2026-02-30", None);
        check("1772409600", None);
    }
}
