//! The catalog: hand-written source worlds of one domain each, embedded in the binary.
//!
//! A package of its own, so that a word changed in a world compiles nothing but this and the command again.
//!
//! Owns the documents' names and texts. It must not read, check or materialise them; `seeds/tests/catalog.rs`
//! holds every one to that.

macro_rules! catalog {
    ($($name:literal),+ $(,)?) => {
        const NAMES: &[&str] = &[$($name),+];

        /// The text of a catalog world, as written.
        #[must_use]
        pub fn source(name: &str) -> Option<&'static str> {
            match name {
                $($name => Some(include_str!(concat!("../", $name, ".yaml"))),)+
                _ => None,
            }
        }

        /// The text of a catalog world's scenarios, as written.
        #[must_use]
        pub fn scenarios(name: &str) -> Option<&'static str> {
            match name {
                $($name => Some(include_str!(concat!("../", $name, ".scenarios.yaml"))),)+
                _ => None,
            }
        }
    };
}

// In alphabetical order: what a slot of a dataset draws from follows from a position in this list.
catalog![
    "city_library",
    "course_enrolment",
    "dental_clinic",
    "event_tickets",
    "facility_repairs",
    "fitness_log",
    "grocery_delivery",
    "hotel_rooms",
    "job_board",
    "music_streaming",
    "parcel_shipping",
    "personal_bank",
    "recipe_kitchen",
    "smart_home",
];

/// The names of the catalog's worlds, in a fixed order.
#[must_use]
pub const fn names() -> &'static [&'static str] {
    NAMES
}
