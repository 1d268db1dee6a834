//! Owns the person and the city of a record, so that its fields agree. The e-mail address has the person's
//! name, and the country contains the city.
//!
//! Fields form groups by their names without the noun of the provider. `email` and `name` belong to one
//! person, `origin_city` and `origin_country` to one city.

use super::tables::{self, City, Country, Person};
use crate::draw::Streams;
use crate::english::split_identifier;

/// Maximum number of draws for a unique value, before all possible values are tried or an error is returned.
/// A retry of several fields begins a new round of them.
pub(super) const TRIES: u32 = 64;
/// Attempts at a city of the home country before a city of any country will do.
const MAX_HOME_ATTEMPTS: u32 = 48;

/// The person and the city of one record, drawn at their first use.
pub(super) struct Cast<'a> {
    groups: &'a [Streams],
    home: Option<&'static Country>,
    /// Group of the first field about a location.
    main: Option<usize>,
    n: u64,
    attempt: u32,
    people: Vec<Option<Person>>,
    places: Vec<Option<&'static City>>,
}

impl<'a> Cast<'a> {
    /// Makes the bindings of a record. `groups` are the streams of the resource's groups. `home` is the
    /// country of phone numbers without a location. `main` is the group of the first field about a location.
    pub(super) fn new(
        groups: &'a [Streams],
        home: Option<&'static Country>,
        main: Option<usize>,
        n: u64,
    ) -> Self {
        Self {
            groups,
            home,
            main,
            n,
            attempt: 0,
            people: vec![None; groups.len()],
            places: vec![None; groups.len()],
        }
    }

    /// Discards a group's person and city, so that a unique field gets other ones.
    pub(super) fn redraw(&mut self, group: usize, attempt: u32) {
        self.attempt = attempt;
        if let Some(person) = self.people.get_mut(group) {
            *person = None;
        }
        if let Some(place) = self.places.get_mut(group) {
            *place = None;
        }
    }

    /// Returns the group's person.
    pub(super) fn person(&mut self, group: usize) -> Person {
        let (n, attempt) = (self.n, self.attempt);
        let drawn = || self.groups.get(group).map(|streams| tables::person(&mut streams.draw(n, attempt)));
        match self.people.get_mut(group) {
            Some(person) => {
                *person.get_or_insert_with(|| drawn().unwrap_or(Person { first: "Alex", last: "Reed" }))
            }
            None => Person { first: "Alex", last: "Reed" },
        }
    }

    /// Returns the group's city.
    pub(super) fn city(&mut self, group: usize) -> Option<&'static City> {
        let place = self.places.get_mut(group)?;
        if place.is_none() {
            // The stream number differs from the person's, so that the two are independent.
            let mut draw = self.groups.get(group)?.draw(self.n, self.attempt | 1 << 20);
            *place = tables::city(&mut draw, None);
        }
        *place
    }

    /// Returns a city of the home country, and makes it the group's city. After many attempts it returns a city
    /// of any country: a small country has fewer than a unique field may need.
    pub(super) fn local_city(&mut self, group: usize) -> Option<&'static City> {
        let mut draw = self.groups.get(group)?.draw(self.n, self.attempt | 1 << 20);
        // A retry of the whole record begins a new round of attempts.
        let home = self.home.filter(|_| self.attempt % (TRIES + 1) < MAX_HOME_ATTEMPTS);
        let city = tables::city(&mut draw, home);
        if let Some(place) = self.places.get_mut(group) {
            *place = city;
        }
        city
    }

    /// Returns the group's city if it has one, otherwise the record's city, otherwise a city of the home
    /// country.
    pub(super) fn nearest(&mut self, group: usize) -> Option<&'static City> {
        let own = self.places.get(group).copied().flatten();
        own.or_else(|| self.setting())
    }

    /// Returns the country of the record's city if it has one, otherwise the home country.
    pub(super) fn country(&mut self, group: usize) -> Option<&'static Country> {
        let own = self.places.get(group).copied().flatten();
        own.or_else(|| self.main.and_then(|main| self.city(main))).map(|city| city.country).or(self.home)
    }

    /// Returns the city for the record's texts: its own if it has one, otherwise a city of the home country.
    pub(super) fn setting(&mut self) -> Option<&'static City> {
        match self.main {
            Some(main) => self.city(main),
            None => self.local_city(0),
        }
    }

    /// Sets the group's city.
    pub(super) fn set_place(&mut self, group: usize, city: &'static City) {
        if let Some(place) = self.places.get_mut(group) {
            *place = Some(city);
        }
    }

    /// Sets the group's city by its name, because a record gives it.
    pub(super) fn set_city(&mut self, group: usize, name: &str) {
        if let Some(place) = self.places.get_mut(group) {
            *place = tables::cities().iter().find(|city| city.name == name).or(*place);
        }
    }
}

/// Nouns of providers at the end of field names. A longer noun stands before a shorter one that ends it.
const NOUNS: &str = "\
    contact_details mobile_number contact_number email_address street_address primary_email primary_phone \
    contact_info country_code postal_code display_name family_name mobile_phone coordinates first_name \
    given_name middle_name phone_number home_phone work_phone full_name last_name user_name zip_code \
    nationality firstname longitude telephone fullname lastname latitude location username postcode currency \
    address country surname handle street mobile email login phone city name geo lat lng";

/// Returns the group of a field: its name without the noun.
pub(super) fn group_of(field: &str) -> String {
    let field = split_identifier(field).join("_");
    let rest = NOUNS.split(' ').find_map(|noun| field.strip_suffix(noun));
    rest.map(|rest| rest.trim_end_matches('_').to_owned()).unwrap_or(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_about_one_person_or_place_are_in_one_group() {
        let groups =
            ["name", "email", "origin_city", "originCountryCode", "patient", "patient_email", "longitude"];
        assert_eq!(groups.map(group_of), ["", "", "origin", "origin", "patient", "patient", ""]);
        assert_eq!(["firstName", "lastname"].map(group_of), ["", ""]);
    }
}
