//! Owns the providers of text: names, addresses, codes, titles, sentences.

use fake::Fake;
use fake::faker::internet::en::UserAgent;

use super::cast::Cast;
use super::grammar::{Setting, capitalise};
use super::provider::{Provider, RuleId};
use super::tables::{self, Country, Person};
use crate::draw::Draw;
use crate::english::fold;
use crate::keys::Code;

/// Domains that are reserved for examples (RFC 2606), so that no mail can reach a person.
const MAIL_HOSTS: [&str; 8] = [
    "example.com",
    "example.org",
    "example.net",
    "mail.example",
    "post.example",
    "inbox.example",
    "webmail.example",
    "letterbox.example",
];

impl Provider {
    /// Returns the provider with this name: a built-in one, or a rule of the grammar.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::built_in(name).or_else(|| RuleId::named(name).map(Self::Rule))
    }

    /// Returns all names.
    pub(super) fn all_names() -> impl Iterator<Item = &'static str> {
        Self::names().chain(RuleId::names())
    }

    /// Returns true if the text is about the record's person.
    pub(super) const fn is_personal(self) -> bool {
        matches!(self, Self::PersonName | Self::FirstName | Self::LastName | Self::Username | Self::Email)
    }

    /// Returns true if the text is about the record's city.
    pub(super) const fn is_local(self) -> bool {
        matches!(
            self,
            Self::City
                | Self::LocalCity
                | Self::Country
                | Self::CountryCode
                | Self::Nationality
                | Self::CurrencyOfCountry
                | Self::LanguageOfCountry
                | Self::TimezoneOfCity
                | Self::Postcode
                | Self::Latitude
                | Self::Longitude
                | Self::Phone
        )
    }

    /// Returns true if the record's city determines the text, but the text does not name the city.
    pub(super) const fn follows_place(self) -> bool {
        matches!(self, Self::Phone | Self::CurrencyOfCountry | Self::LanguageOfCountry | Self::TimezoneOfCity)
    }

    /// Appends text that fits the record's person and city.
    pub(super) fn write(self, cast: &mut Cast<'_>, group: usize, draw: &mut Draw, out: &mut String) {
        match self {
            _ if self.is_personal() => {
                let person = cast.person(group);
                self.write_person(person, draw, out);
            }
            Self::Phone => phone(cast.country(group), draw, out),
            Self::CurrencyOfCountry | Self::LanguageOfCountry => match cast.country(group) {
                Some(country) => self.write_country(country, draw, out),
                None => self.write_alone(draw, out),
            },
            Self::TimezoneOfCity => match cast.nearest(group) {
                Some(city) => out.push_str(city.country.zone_at(city.longitude)),
                None => self.write_alone(draw, out),
            },
            Self::Rule(rule) => rule.write(draw, cast.setting(), out),
            Self::LocalCity => out.push_str(cast.local_city(group).map_or("", |city| city.name)),
            _ if self.is_local() => match cast.city(group) {
                Some(city) => match self {
                    Self::City => out.push_str(city.name),
                    Self::Latitude => out.push_str(&near(city.latitude, draw).to_string()),
                    Self::Longitude => out.push_str(&near(city.longitude, draw).to_string()),
                    _ => self.write_country(city.country, draw, out),
                },
                None => self.write_alone(draw, out),
            },
            _ => self.write_alone(draw, out),
        }
    }

    /// Appends text for this city, as part of a longer text.
    pub(super) fn write_at(self, place: Setting, draw: &mut Draw, out: &mut String) {
        match (self, place) {
            (Self::City | Self::LocalCity, Some(city)) => out.push_str(city.name),
            (Self::TimezoneOfCity, Some(city)) => out.push_str(city.country.zone_at(city.longitude)),
            (_, Some(city)) if self.is_local() => self.write_country(city.country, draw, out),
            _ => self.write_alone(draw, out),
        }
    }

    /// Appends text that is independent of a record.
    pub(super) fn write_alone(self, draw: &mut Draw, out: &mut String) {
        match self {
            Self::PersonName | Self::FirstName | Self::LastName | Self::Username | Self::Email => {
                let person = tables::person(draw);
                self.write_person(person, draw, out);
            }
            Self::City | Self::LocalCity => {
                out.push_str(tables::city(draw, None).map_or("", |city| city.name))
            }
            Self::Phone => {
                let country = draw.pick(tables::countries());
                phone(country, draw, out);
            }
            Self::Country
            | Self::CountryCode
            | Self::Nationality
            | Self::CurrencyOfCountry
            | Self::LanguageOfCountry
            | Self::Postcode => {
                if let Some(country) = draw.pick(tables::countries()) {
                    self.write_country(country, draw, out);
                }
            }
            Self::TimezoneOfCity => out.push_str(
                tables::city(draw, None).map_or("UTC", |city| city.country.zone_at(city.longitude)),
            ),
            Self::Latitude => {
                out.push_str(&tables::city(draw, None).map_or(0.0, |city| city.latitude).to_string())
            }
            Self::Longitude => {
                out.push_str(&tables::city(draw, None).map_or(0.0, |city| city.longitude).to_string())
            }
            Self::Uuid => out.push_str(&Code::parse("{xxxxxxxx-xxxx-4xxx-axxx-xxxxxxxxxxxx}").write(draw)),
            Self::Url => {
                out.push_str("https://");
                Self::Domain.write_alone(draw, out);
                out.push('/');
                Self::Slug.write_alone(draw, out);
            }
            Self::ImageUrl => {
                out.push_str("https://images.example.com/");
                Self::Slug.write_alone(draw, out);
                out.push_str(&Code::parse("-{xxxx}.jpg").write(draw));
            }
            Self::Domain => {
                out.push_str(&slug(&rule_text("company_word", draw), '-'));
                out.push_str([".example", ".example.com", ".example.org"][draw.index(3)]);
            }
            Self::Ip => {
                // Private networks, and networks that are reserved for documentation (RFC 5737).
                let network = ["192.0.2.", "198.51.100.", "203.0.113."].get(draw.index(8));
                match network {
                    Some(network) => out.push_str(&format!("{network}{}", 1 + draw.below(254))),
                    None => out.push_str(&format!(
                        "10.{}.{}.{}",
                        draw.below(256),
                        draw.below(256),
                        1 + draw.below(254)
                    )),
                }
            }
            Self::MacAddress => out.push_str(&Code::parse("0{x}:{xx}:{xx}:{xx}:{xx}:{xx}").write(draw)),
            Self::UserAgent => out.push_str(&UserAgent().fake_with_rng::<String, _>(draw.rng())),
            Self::Isbn => isbn(draw, out),
            Self::Iban => iban(draw, out),
            Self::LicencePlate => {
                let forms = ["{AA}-##-{AA}", "{A}{A}## {AAA}", "{AAA}-###", "{AA} ### {A}{A}", "## {AAA} #"];
                out.push_str(&Code::parse(forms[draw.index(forms.len())]).write(draw));
            }
            Self::Words => {
                for i in 0..2 + draw.index(3) {
                    if i > 0 {
                        out.push(' ');
                    }
                    out.push_str(&rule_text("word", draw));
                }
            }
            Self::Slug => {
                let first = rule_text("word", draw);
                let second = rule_text("word", draw);
                out.push_str(&first);
                if second != first {
                    out.push('-');
                    out.push_str(&second);
                }
            }
            Self::Password => {
                let mut word = rule_text("word", draw);
                capitalise(&mut word, 0);
                out.push_str(&word);
                out.push_str(&Code::parse("-##{xx}").write(draw));
                out.push_str(&rule_text("word", draw));
            }
            Self::Hashtag => {
                out.push('#');
                out.push_str(&slug(&rule_text("topic", draw), '_').replace('_', ""));
            }
            Self::Rule(rule) => rule.write(draw, None, out),
        }
    }

    /// Returns about the number of different texts.
    pub(super) fn capacity(self) -> u64 {
        match self {
            Self::PersonName | Self::Username | Self::Email => tables::persons(),
            Self::FirstName | Self::LastName => 1_000,
            Self::City => tables::cities().len() as u64,
            Self::LocalCity => tables::LOCAL_CITIES,
            Self::Country | Self::CountryCode | Self::Nationality => tables::countries().len() as u64,
            Self::CurrencyOfCountry | Self::LanguageOfCountry | Self::TimezoneOfCity => 40,
            Self::Rule(rule) => rule.capacity(),
            _ => u64::MAX,
        }
    }

    fn write_person(self, person: Person, draw: &mut Draw, out: &mut String) {
        match self {
            Self::FirstName => out.push_str(person.first),
            Self::LastName => out.push_str(person.last),
            Self::Username => username(person, draw, out),
            Self::Email => email(person.first, person.last, draw, out),
            _ => {
                out.push_str(person.first);
                out.push(' ');
                out.push_str(person.last);
            }
        }
    }

    fn write_country(self, country: &Country, draw: &mut Draw, out: &mut String) {
        match self {
            Self::CountryCode => out.push_str(country.code),
            Self::Nationality => out.push_str(country.demonym),
            Self::CurrencyOfCountry => out.push_str(country.currency),
            Self::LanguageOfCountry => out.push_str(country.language),
            Self::Postcode => out.push_str(&Code::parse(country.postcode).write(draw)),
            _ => out.push_str(country.name),
        }
    }
}

/// Appends the address of a person whose full name is in another field.
pub(super) fn email_from(name: &str, draw: &mut Draw, out: &mut String) {
    let (first, last) = name_parts(name);
    email(first, last, draw, out);
}

/// Appends the user name of a person whose full name is in another field.
pub(super) fn username_from(name: &str, draw: &mut Draw, out: &mut String) {
    let (first, last) = name_parts(name);
    username_of(first, last, draw, out);
}

/// Returns a coordinate near a city's centre, with four decimals.
pub(super) fn near(centre: f64, draw: &mut Draw) -> f64 {
    let shifted = centre + draw.between(-400, 400) as f64 / 10_000.0;
    (shifted * 10_000.0).round() / 10_000.0
}

/// Returns the text in lower-case ASCII letters and digits, with `joint` between words.
pub(super) fn slug(text: &str, joint: char) -> String {
    let mut slug = String::with_capacity(text.len());
    let mut gap = false;
    for character in fold(text).chars() {
        if character.is_ascii_alphanumeric() {
            if std::mem::take(&mut gap) && !slug.is_empty() {
                slug.push(joint);
            }
            slug.push(character);
        } else {
            // "O'Neill" is one word.
            gap |= !matches!(character, '\'' | '’');
        }
    }
    slug
}

/// Returns the first and the last word of a name, without titles.
fn name_parts(name: &str) -> (&str, &str) {
    let mut words = name.split_whitespace().filter(|word| !word.ends_with('.'));
    let first = words.next().unwrap_or("user");
    (first, words.next_back().unwrap_or(""))
}

fn email(first: &str, last: &str, draw: &mut Draw, out: &mut String) {
    let (first, last) = (slug(first, '.'), slug(last, '.'));
    let initial = first.get(..1).unwrap_or("x");
    let local = match (last.is_empty(), draw.index(6)) {
        (true, 0..3) => first.clone(),
        (true, _) => format!("{first}{}", 1 + draw.below(98)),
        (_, 0..3) => format!("{first}.{last}"),
        (_, 3) => format!("{initial}.{last}"),
        (_, 4) => format!("{first}{last}"),
        _ => format!("{first}.{last}{}", 10 + draw.below(89)),
    };
    out.push_str(&local);
    out.push('@');
    out.push_str(MAIL_HOSTS[draw.index(MAIL_HOSTS.len())]);
}

fn username(person: Person, draw: &mut Draw, out: &mut String) {
    username_of(person.first, person.last, draw, out);
}

fn username_of(first: &str, last: &str, draw: &mut Draw, out: &mut String) {
    let (first, last) = (slug(first, '_').replace('_', ""), slug(last, '_').replace('_', ""));
    let name = match draw.index(5) {
        0 => format!("{first}_{last}"),
        1 => format!("{}{last}", first.get(..1).unwrap_or("x")),
        2 => format!("{first}{}", 10 + draw.below(90)),
        3 => format!("{first}.{last}"),
        _ => format!("{}_{}", slug(&rule_text("title_adjective", draw), '_'), first),
    };
    out.push_str(name.trim_matches(['_', '.']));
}

fn phone(country: Option<&Country>, draw: &mut Draw, out: &mut String) {
    let dial = country.map_or("1", |country| country.dial);
    out.push('+');
    out.push_str(dial);
    let first = char::from(b'2' + draw.below(8) as u8);
    // North America does not assign numbers with 555.
    let form = if dial == "1" { format!(" {first}## 555 0###") } else { format!(" {first}## ### ###") };
    out.push_str(&Code::parse(&form).write(draw));
}

/// Appends an ISBN-13 of an English-language or a German publisher, with its check digit.
fn isbn(draw: &mut Draw, out: &mut String) {
    let forms = ["978-0-2#-######-", "978-0-5##-#####-", "978-1-86###-###-", "978-3-45#-#####-"];
    let text = Code::parse(forms[draw.index(forms.len())]).write(draw);
    let digits = text.chars().filter_map(|character| character.to_digit(10)).enumerate();
    let sum: u32 = digits.map(|(i, digit)| digit * if i % 2 == 0 { 1 } else { 3 }).sum();
    out.push_str(&format!("{text}{}", (10 - sum % 10) % 10));
}

/// Appends an IBAN of the right length with valid check digits. Each country has a code format.
fn iban(draw: &mut Draw, out: &mut String) {
    const FORMS: [(&str, &str); 8] = [
        ("DE", "##################"),
        ("ES", "####################"),
        ("FR", "#######################"),
        ("NL", "{AAAA}##########"),
        ("GB", "{AAAA}##############"),
        ("PT", "#####################"),
        ("AT", "################"),
        ("IE", "{AAAA}##############"),
    ];
    let (country, form) = FORMS[draw.index(FORMS.len())];
    let account = Code::parse(form).write(draw);
    // ISO 7064 mod 97-10: letters count from A = 10, the country and two zeros go to the end.
    let remainder =
        account.chars().chain(country.chars()).chain("00".chars()).fold(0_u32, |rest, character| {
            let value = character.to_digit(36).unwrap_or(0);
            (rest * if value > 9 { 100 } else { 10 } + value) % 97
        });
    out.push_str(&format!("{country}{:02}{account}", 98 - remainder));
}

fn rule_text(name: &str, draw: &mut Draw) -> String {
    let mut out = String::new();
    if let Some(rule) = RuleId::named(name) {
        rule.write(draw, None, &mut out);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Streams;

    fn made(provider: Provider, n: u64) -> String {
        let mut out = String::new();
        provider.write_alone(&mut Streams::new(5, "r", "f", "").draw(n, 0), &mut out);
        out
    }

    #[test]
    fn addresses_are_plain_and_cannot_reach_anyone() {
        assert_eq!(slug("Łukasz Ødegård O’Neill-Müßig", '.'), "lukasz.odegard.oneill.mussig");
        for n in 0..300 {
            let email = made(Provider::Email, n);
            let (local, host) = email.split_once('@').unwrap();
            assert!(MAIL_HOSTS.contains(&host));
            assert!(local.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.'), "{email}");
        }
        let mut out = String::new();
        email_from("Dr. Ana María da Silva", &mut Streams::new(5, "r", "f", "").draw(0, 0), &mut out);
        assert!(out.contains("silva"), "{out}");
    }

    #[test]
    fn check_digits_hold() {
        for n in 0..200 {
            let iban = made(Provider::Iban, n);
            let (head, account) = iban.split_at(4);
            let rest = account.chars().chain(head.chars()).fold(0_u32, |rest, character| {
                let value = character.to_digit(36).unwrap();
                (rest * if value > 9 { 100 } else { 10 } + value) % 97
            });
            assert_eq!(rest, 1, "{iban}");
            let isbn: Vec<u32> =
                made(Provider::Isbn, n).chars().filter_map(|digit| digit.to_digit(10)).collect();
            assert_eq!(isbn.len(), 13);
            let sum: u32 =
                isbn.iter().enumerate().map(|(i, digit)| digit * if i % 2 == 0 { 1 } else { 3 }).sum();
            assert_eq!(sum % 10, 0, "{isbn:?}");
        }
    }
}
