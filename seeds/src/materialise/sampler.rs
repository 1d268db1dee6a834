//! Owns the generation of single texts and numbers by the names of members, for replies whose values no
//! record holds.

use std::cell::RefCell;

use hashbrown::HashMap;

use super::cast::Cast;
use super::defaults::names::{ANY_NAME, provider_of_name};
use super::defaults::{code, names, numbers, sentences_of};
use super::provider::Provider;
use super::tables::{City, cities, city, country_named};
use crate::agreement::{is_ambiguous, is_ambiguous_noun};
use crate::draw::Streams;
use crate::english::{capitalised, split_identifier};
use crate::keys::Code;

/// Groups of the bindings: the object's person, and the record's city.
const PERSON: usize = 0;
const PLACE: usize = 1;

/// Makes the texts of one object, which are about one person and one city.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sampler {
    person: u64,
    place: u64,
    /// The city, if it is known.
    city: Option<&'static City>,
}

impl Sampler {
    /// Makes a sampler for the person of one seed and the city of another.
    pub const fn new(person: u64, place: u64) -> Self {
        Self { person, place, city: None }
    }

    /// Sets the city by its name, or to a city of the named country. Returns true if the name is known.
    pub fn set_in(&mut self, place: &str) -> bool {
        let city = cities().iter().find(|city| city.name == place).or_else(|| {
            let country = country_named(place)?;
            let mut draw = Streams::new(self.place, "", "", "place").draw(0, 0);
            city(&mut draw, Some(country)).filter(|city| city.country == country)
        });
        self.city = city.or(self.city);
        city.is_some()
    }

    /// Returns a valid text for a member of this name inside an object of that name, or none if the names
    /// have no known meaning.
    pub fn text(&self, name: &str, of: &str, seed: u64, fits: &dyn Fn(&str) -> bool) -> Option<String> {
        let words = split_identifier(name);
        let mut draw = Streams::new(seed, "", name, "text").draw(0, 0);
        let within = provider_within(&words, of);
        // The full name of a location is not a person's name.
        let own = within.filter(|made| {
            words.len() == 2
                && words.split_last().is_some_and(|(_, before)| is_its_own(before))
                && !["account_name", ANY_NAME].contains(made)
        });
        let provider = own.or_else(|| provider_of_member(name)).or(within);
        let Some(provider) = provider else {
            if let Some(format) = code(&words).filter(|_| !is_ambiguous(name)) {
                return Some(Code::parse(format).write(&mut draw)).filter(|text| fits(text));
            }
            return self.title(&words, of, seed).filter(|text| fits(text));
        };
        if provider == ANY_NAME {
            return self.title(&words, of, seed).filter(|text| fits(text));
        }
        let groups = [self.person, self.place].map(|seed| Streams::new(seed, "", "", "cast"));
        let mut cast = Cast::new(&groups, None, Some(PLACE), 0);
        if let Some(city) = self.city {
            cast.set_place(PLACE, city);
        }
        let own = Provider::named(provider)?;
        let group = if own.is_personal() { PERSON } else { PLACE };
        let mut made = String::new();
        own.write(&mut cast, group, &mut draw, &mut made);
        if fits(&made) {
            return Some(made);
        }
        let country = cast.country(PLACE).filter(|_| ["country", "country_code"].contains(&provider))?;
        let spelt = [country.code, country.long_code, country.name];
        spelt.into_iter().find(|text| fits(text)).map(str::to_owned)
    }

    /// Returns a name for a thing that no table covers: `Porto committee`.
    fn title(&self, words: &[String], of: &str, seed: u64) -> Option<String> {
        let (last, before) = words.split_last()?;
        let is_title = ["name", "title", "label", "subject", "headline"].contains(&last.as_str());
        let thing = if is_its_own(before) { split_identifier(of).join(" ") } else { before.join(" ") };
        if !is_title || thing.is_empty() {
            return None;
        }
        let drawn = || city(&mut Streams::new(seed, "", "", "title").draw(0, 0), None);
        Some(capitalised(&format!("{} {thing}", self.city.or_else(drawn)?.name)))
    }

    /// Returns a coordinate near the city, if the name is that of a latitude or longitude.
    pub fn coordinate(&self, name: &str, seed: u64) -> Option<f64> {
        let words = split_identifier(name);
        let last = words.last()?.as_str();
        let is_latitude = ["latitude", "lat"].contains(&last);
        if !is_latitude && !["longitude", "lon", "lng", "long"].contains(&last) {
            return None;
        }
        let groups = [self.person, self.place].map(|seed| Streams::new(seed, "", "", "cast"));
        let mut cast = Cast::new(&groups, None, Some(PLACE), 0);
        let city = self.city.or_else(|| cast.city(PLACE))?;
        let centre = if is_latitude { city.latitude } else { city.longitude };
        Some(super::text::near(centre, &mut Streams::new(seed, "", name, "degree").draw(0, 0)))
    }
}

/// Returns two words with a hyphen, as in addresses. The seed determines them.
pub fn slug_of(seed: u64) -> String {
    let mut made = String::new();
    Provider::Slug.write_alone(&mut Streams::new(seed, "", "", "slug").draw(0, 0), &mut made);
    made
}

/// Returns the provider that the name of a member denotes in any service. Returns none for words whose
/// meaning differs between services.
///
/// ```
/// use diorama_seeds::materialise::provider_of_member;
///
/// assert_eq!(provider_of_member("billingEmail"), Some("email"));
/// assert_eq!(provider_of_member("currency"), Some("currency_of_country"));
/// assert_eq!(provider_of_member("state"), None);
/// ```
pub fn provider_of_member(name: &str) -> Option<&'static str> {
    if name.len() > MAX_KNOWN_BYTES {
        return find_provider(name);
    }
    KNOWN.with_borrow_mut(|known| {
        if let Some(found) = known.get(name) {
            return *found;
        }
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        let found = find_provider(name);
        known.insert(name.into(), found);
        found
    })
}

thread_local! {
    // The members of one service repeat.
    static KNOWN: RefCell<HashMap<Box<str>, Option<&'static str>>> = RefCell::default();
}
/// Maximum number of cached names. One more clears the cache.
const MAX_KNOWN: usize = 8_192;
/// Maximum length of a cached name in bytes.
const MAX_KNOWN_BYTES: usize = 64;

fn find_provider(name: &str) -> Option<&'static str> {
    // `address1` is one of several addresses.
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let known = |name: &str| names::of_field(&split_identifier(name)).filter(|_| !is_ambiguous(name));
    let found = known(name).or_else(|| known(bare).filter(|_| bare != name))?;
    Some(match found {
        "timezone" => "timezone_of_city",
        "language" | "language_code" => "language_of_country",
        "currency_code" => "currency_of_country",
        // The tables do not have the regions of the cities.
        "region" => return None,
        other => other,
    })
}

/// Returns true if a name after these words is that of the object itself: `display_name`.
fn is_its_own(before: &[String]) -> bool {
    matches!(before, [] | [_])
        && before.iter().all(|word| ["display", "full", "friendly", "short"].contains(&word.as_str()))
}

/// Returns the provider of a name or a sentence, by the object around it.
fn provider_within(words: &[String], of: &str) -> Option<&'static str> {
    let (last, before) = words.split_last()?;
    match last.as_str() {
        "name" | "title" => {
            let of = if is_its_own(before) { of.to_owned() } else { before.join("_") };
            let made = provider_of_noun(&of);
            Some(match made {
                "file_name" if !of.contains("file") => ANY_NAME,
                "person_name" if last == "title" => "job_title",
                made => made,
            })
        }
        "text" | "body" | "content" | "message" | "comment" => sentences_of(of).filter(|_| before.is_empty()),
        _ => None,
    }
}

/// Returns the provider for names of a noun in any service: [`provider_of_name`], or [`ANY_NAME`] if the
/// meaning of the noun differs between services.
pub fn provider_of_noun(noun: &str) -> &'static str {
    if is_ambiguous_noun(noun) { ANY_NAME } else { provider_of_name(noun) }
}

/// Returns true if only people have a member of this name. Examples: a first name, an email address.
pub fn tells_person(name: &str) -> bool {
    matches!(provider_of_member(name), Some("first_name" | "last_name" | "email"))
}

/// Returns the minimum, the maximum and the step of a member of this name, if the tables have them.
pub fn range_of_member(name: &str, is_whole: bool) -> Option<[f64; 3]> {
    let words = split_identifier(name);
    let of = |section| numbers::<3>(section, &words);
    if is_whole { of("integers") } else { of("reals").or_else(|| of("integers")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(sampler: &Sampler, name: &str, of: &str) -> Option<String> {
        sampler.text(name, of, 9, &|_| true)
    }

    #[test]
    fn texts_of_one_object_are_about_one_place_and_one_person() {
        for place in 0..40 {
            let sampler = Sampler::new(3, place);
            let own = |name: &str| text(&sampler, name, "office").unwrap();
            let country = country_named(&own("country")).unwrap();
            assert_eq!(cities().iter().find(|city| city.name == own("city")).unwrap().country, country);
            assert_eq!(own("currency"), country.currency);
            assert_eq!(own("countryCode"), country.code);
            assert!(own("phone").starts_with(&format!("+{} ", country.dial)));
            let short = sampler.text("country", "", 1, &|text| text.len() == 3);
            assert_eq!(short.as_deref(), Some(country.long_code));
        }
        let mut lisbon = Sampler::new(3, 4);
        assert!(lisbon.set_in("Lisbon") && !lisbon.set_in("Atlantis"));
        assert_eq!(text(&lisbon, "country", "").as_deref(), Some("Portugal"));
        assert_eq!(text(&lisbon, "timezone", "").as_deref(), Some("Europe/Lisbon"));
        assert!((lisbon.coordinate("lat", 1).unwrap() - 38.72).abs() < 0.05);
        let name = text(&lisbon, "full_name", "user").unwrap();
        assert!(name.starts_with(&text(&lisbon, "firstName", "user").unwrap()), "{name}");
    }

    #[test]
    fn long_names_are_read_and_not_kept() {
        let is_kept = |name: &str| KNOWN.with_borrow(|known| known.contains_key(name));
        for (padding, expect) in [(8, true), (MAX_KNOWN_BYTES, false)] {
            let name = format!("{}_email", "x".repeat(padding));
            assert_eq!(provider_of_member(&name), Some("email"));
            assert_eq!(is_kept(&name), expect, "{name}");
        }
    }

    #[test]
    fn full_names_are_those_of_what_has_them() {
        let sampler = Sampler::new(1, 2);
        let place = text(&sampler, "full_name", "place_city").unwrap();
        assert!(cities().iter().any(|city| city.name == place), "{place}");
        assert!(text(&sampler, "full_name", "user").unwrap().contains(' '));
    }

    #[test]
    fn nothing_is_made_of_names_that_say_nothing() {
        let sampler = Sampler::new(1, 2);
        for name in ["protocol", "state", "raw_value", "description"] {
            assert_eq!(text(&sampler, name, "connector"), None, "{name}");
        }
        assert!(text(&sampler, "name", "committee").unwrap().ends_with(" committee"));
        assert!(text(&sampler, "text", "review").unwrap().ends_with('.'));
    }
}
