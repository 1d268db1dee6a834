//! Owns the list of text providers by name.

/// A source of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Provider {
    PersonName,
    FirstName,
    LastName,
    Username,
    Email,
    Phone,
    City,
    /// A city of the world's country.
    LocalCity,
    Country,
    CountryCode,
    Nationality,
    CurrencyOfCountry,
    LanguageOfCountry,
    TimezoneOfCity,
    Postcode,
    Latitude,
    Longitude,
    Uuid,
    Url,
    ImageUrl,
    Domain,
    Ip,
    MacAddress,
    UserAgent,
    Isbn,
    Iban,
    LicencePlate,
    Words,
    Slug,
    Password,
    Hashtag,
    /// A rule of the grammar.
    Rule(RuleId),
}

const BUILT_IN: [(&str, Provider); 31] = [
    ("person_name", Provider::PersonName),
    ("first_name", Provider::FirstName),
    ("last_name", Provider::LastName),
    ("username", Provider::Username),
    ("email", Provider::Email),
    ("phone", Provider::Phone),
    ("city", Provider::City),
    ("local_city", Provider::LocalCity),
    ("country", Provider::Country),
    ("country_code", Provider::CountryCode),
    ("nationality", Provider::Nationality),
    ("currency_of_country", Provider::CurrencyOfCountry),
    ("language_of_country", Provider::LanguageOfCountry),
    ("timezone_of_city", Provider::TimezoneOfCity),
    ("postcode", Provider::Postcode),
    ("latitude", Provider::Latitude),
    ("longitude", Provider::Longitude),
    ("uuid", Provider::Uuid),
    ("url", Provider::Url),
    ("image_url", Provider::ImageUrl),
    ("domain_name", Provider::Domain),
    ("ip", Provider::Ip),
    ("mac_address", Provider::MacAddress),
    ("user_agent", Provider::UserAgent),
    ("isbn", Provider::Isbn),
    ("iban", Provider::Iban),
    ("licence_plate", Provider::LicencePlate),
    ("words", Provider::Words),
    ("slug", Provider::Slug),
    ("password", Provider::Password),
    ("hashtag", Provider::Hashtag),
];

/// Position of a rule in the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RuleId(pub(super) u16);

impl Provider {
    /// Returns the built-in provider with this name, which is no rule.
    pub(super) fn built_in(name: &str) -> Option<Self> {
        BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, provider)| *provider)
    }

    /// Returns the names that documents list, for messages.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }
}
