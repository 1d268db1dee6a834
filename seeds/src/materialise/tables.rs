//! Owns people, countries and cities, from the embedded tables.

use std::sync::LazyLock;

use fake::locales::{Data, FR_FR, IT_IT, NL_NL, PT_BR, PT_PT};

use crate::draw::Draw;
use crate::table::{columns, rows};

/// A country.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Country {
    pub(super) code: &'static str,
    pub(super) name: &'static str,
    pub(super) demonym: &'static str,
    pub(super) currency: &'static str,
    /// Dialling code, without the `+`.
    pub(super) dial: &'static str,
    /// Format of the postcode, as a code format.
    pub(super) postcode: &'static str,
    /// Three-letter code.
    pub(super) long_code: &'static str,
    /// Code of the most common language.
    pub(super) language: &'static str,
    /// Time zones from west to east. Each but the last has the longitude of its eastern border.
    zones: &'static str,
}

/// A city with its country.
#[derive(Debug)]
pub(super) struct City {
    pub(super) name: &'static str,
    pub(super) country: &'static Country,
    pub(super) latitude: f64,
    pub(super) longitude: f64,
}

/// A person's two names, from one group of names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Person {
    pub(super) first: &'static str,
    pub(super) last: &'static str,
}

/// Names that occur together.
struct Group {
    first: Vec<&'static str>,
    last: Vec<&'static str>,
}

/// The groups, each as often as its weight.
struct People {
    groups: Vec<Group>,
    deal: Vec<usize>,
}

static COUNTRIES: LazyLock<Vec<Country>> = LazyLock::new(|| {
    rows(include_str!("../../data/countries.txt"))
        .map(|row| {
            let [code, name, demonym, currency, dial, postcode, long_code, language, zones] = columns(row);
            Country { code, name, demonym, currency, dial, postcode, long_code, language, zones }
        })
        .collect()
});

static CITIES: LazyLock<Vec<City>> = LazyLock::new(|| {
    rows(include_str!("../../data/cities.txt"))
        .filter_map(|row| {
            let [country, name, latitude, longitude] = columns(row);
            let country = COUNTRIES.iter().find(|known| known.code == country)?;
            Some(City { name, country, latitude: latitude.parse().ok()?, longitude: longitude.parse().ok()? })
        })
        .collect()
});

static PEOPLE: LazyLock<People> = LazyLock::new(People::read);

impl Country {
    /// Returns the time zone at a longitude.
    pub(super) fn zone_at(&self, longitude: f64) -> &'static str {
        let zones = self.zones.split(' ').map(|zone| zone.split_once('<').unwrap_or((zone, "")));
        let mut there = zones.filter(|(_, end)| end.parse().map_or(true, |end: f64| longitude < end));
        there.next().map_or("UTC", |(zone, _)| zone)
    }
}

/// Returns all countries.
pub(super) fn countries() -> &'static [Country] {
    &COUNTRIES
}

/// Returns all cities.
pub(super) fn cities() -> &'static [City] {
    &CITIES
}

/// Draws a person.
pub(super) fn person(draw: &mut Draw) -> Person {
    let group = draw.pick(&PEOPLE.deal).and_then(|group| PEOPLE.groups.get(*group));
    let name = |names: fn(&Group) -> &Vec<&'static str>, draw: &mut Draw| {
        group.and_then(|group| draw.pick(names(group))).copied().unwrap_or("Alex")
    };
    Person { first: name(|group| &group.first, draw), last: name(|group| &group.last, draw) }
}

/// Minimum number of cities in a country that worlds use as their home.
pub(super) const LOCAL_CITIES: u64 = 12;

/// Returns the number of different persons.
pub(super) fn persons() -> u64 {
    PEOPLE.groups.iter().map(|group| (group.first.len() * group.last.len()) as u64).sum()
}

/// Draws a city, from the given country if it has any.
pub(super) fn city(draw: &mut Draw, country: Option<&Country>) -> Option<&'static City> {
    let start =
        CITIES.partition_point(|city| country.is_some_and(|country| city.country.code < country.code));
    let end = CITIES.partition_point(|city| country.is_none_or(|country| city.country.code <= country.code));
    let there = CITIES.get(start..end).filter(|there| !there.is_empty());
    draw.pick(there.unwrap_or(&CITIES))
}

/// Returns the country with this name, code or three-letter code.
pub(super) fn country_named(text: &str) -> Option<&'static Country> {
    let is = |known: &str| known.eq_ignore_ascii_case(text);
    COUNTRIES.iter().find(|country| is(country.name) || is(country.code) || is(country.long_code))
}

/// Returns the country of the city that gives a time zone its name.
pub(super) fn country_of_zone(zone: &str) -> Option<&'static Country> {
    let place = zone.rsplit('/').next()?.replace('_', " ");
    CITIES.iter().find(|city| city.name == place).map(|city| city.country)
}

impl People {
    fn read() -> Self {
        let mut people = Self { groups: Vec::new(), deal: Vec::new() };
        let mut weight = 1;
        for row in rows(include_str!("../../data/people.txt")) {
            let names = |row: &'static str| row.split(", ").collect::<Vec<_>>();
            match (row.split_once(' '), people.groups.last_mut()) {
                (Some(("weight", text)), _) => weight = text.parse().unwrap_or(1),
                (Some(("first", list)), Some(group)) => group.first = names(list),
                (Some(("last", list)), Some(group)) => {
                    group.last = names(list);
                    people.deal.extend(std::iter::repeat_n(people.groups.len() - 1, weight));
                }
                _ => people.groups.push(Group { first: Vec::new(), last: Vec::new() }),
            }
        }
        // These locales of the `fake` crate have modern names in Latin script. Its others have other scripts
        // or sample names ("Mustermann"), so the table replaces them.
        people.add::<FR_FR>(2, "Agrippine, Aimable, Cochet, Gay, Lachaud, Laporte, Pépin, Uriel, Zéphirin");
        people.add::<IT_IT>(2, "Dalla");
        people.add::<NL_NL>(2, "");
        people.add::<PT_BR>(2, "");
        people.add::<PT_PT>(2, "");
        people
    }

    fn add<L: Data>(&mut self, weight: usize, without: &str) {
        let without: Vec<&str> = without.split(", ").collect();
        let kept = |names: &'static [&'static str]| {
            let mut kept: Vec<&'static str> =
                names.iter().copied().filter(|name| !without.contains(name) && !shouted(name)).collect();
            kept.sort_unstable();
            kept.dedup();
            // The positions stay the same, because draws go by position.
            for at in 1..kept.len() {
                kept[at] = kept[at].trim_matches(|c: char| !c.is_alphabetic());
                if mistyped(kept[at]) {
                    kept[at] = kept[at - 1];
                }
            }
            kept
        };
        self.groups.push(Group { first: kept(L::NAME_FIRST_NAME), last: kept(L::NAME_LAST_NAME) });
        self.deal.extend(std::iter::repeat_n(self.groups.len() - 1, weight));
    }
}

/// Returns true for the few names in capitals.
fn shouted(name: &str) -> bool {
    name.chars().skip(1).all(|character| !character.is_lowercase())
}

/// Returns true for the few names that begin with two capitals or hold a quotation mark.
fn mistyped(name: &str) -> bool {
    let capitals = name.chars().take_while(|character| character.is_uppercase()).count();
    capitals > 1
        || !name.chars().all(|character| character.is_alphabetic() || " -'\u{2019}.".contains(character))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Streams;

    #[test]
    fn the_tables_are_whole_and_in_order() {
        assert!(COUNTRIES.is_sorted_by_key(|country| country.code));
        assert!(
            CITIES.is_sorted_by_key(|city| city.country.code),
            "cities are found by their country's code"
        );
        assert_eq!(rows(include_str!("../../data/cities.txt")).count(), CITIES.len());
        assert!(COUNTRIES.iter().all(|country| !country.postcode.is_empty() && country.currency.len() == 3));
        assert!(COUNTRIES.iter().all(|country| country.long_code.len() == 3 && country.language.len() == 2));
        let in_zone = |city: &City| crate::value::Zone::named(city.country.zone_at(city.longitude)).is_some();
        assert!(CITIES.iter().all(in_zone));
        assert!(CITIES.iter().all(|city| city.latitude.abs() < 90.0 && city.longitude.abs() <= 180.0));
        assert!(PEOPLE.groups.iter().all(|group| group.first.len() >= 20 && group.last.len() >= 20));
        assert!(persons() > 100_000);
    }

    #[test]
    fn a_city_can_be_asked_of_a_country() {
        let portugal = country_of_zone("Europe/Lisbon").unwrap();
        assert_eq!(portugal.name, "Portugal");
        let streams = Streams::new(1, "r", "f", "");
        assert!((0..50).all(|n| city(&mut streams.draw(n, 0), Some(portugal)).unwrap().country == portugal));
        assert_eq!(country_of_zone("UTC"), None);
    }
}
