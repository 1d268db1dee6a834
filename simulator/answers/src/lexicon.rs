//! The lexicon: maps words to numbers, months, weekdays, units, currencies and roles in a sentence.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::units::{self, Currency, Unit};

/// The meanings of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lex {
    /// A number below one hundred: `twelve`.
    pub number: Option<u8>,
    /// A multiplying number: `dozen`, `thousand`.
    pub multiplier: Option<u32>,
    /// The number of an ordinal: `third`.
    pub ordinal: u8,
    /// A month, 1 to 12.
    pub month: u8,
    /// A weekday, 1 (Monday) to 7.
    pub weekday: u8,
    /// True if the word abbreviates a month or a weekday.
    pub short: bool,
    /// A unit.
    pub unit: Option<Unit>,
    /// A currency.
    pub currency: Option<Currency>,
    /// True if the currency is a code, which counts only in capitals.
    pub code: bool,
    roles: u16,
}

/// A role that words play in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A word without a meaning of its own: `the`, `of`, `is`.
    Function,
    /// A denial: `not`, `isn't`, `never`.
    Negator,
    /// A form of `be`.
    Copula,
    /// A word that makes the words after it imagined, possible or unsure: `if`, `might`, `perhaps`.
    Hypothetical,
    /// A noun before a number that identifies something: `room`, `order`.
    Identifier,
    /// A word that asks: `which`, `shall`, `can`.
    Asking,
    /// A title of a person.
    Title,
    /// An abbreviation, whose point ends no sentence.
    Abbreviation,
    /// A word that starts a clause: `but`, `because`, `while`.
    Joint,
}

impl Lex {
    /// Returns true if the word plays a role.
    #[must_use]
    pub const fn is(&self, role: Role) -> bool {
        self.roles & (1 << role as u16) != 0
    }
}

static NONE: Lex = Lex {
    number: None,
    multiplier: None,
    ordinal: 0,
    month: 0,
    weekday: 0,
    short: false,
    unit: None,
    currency: None,
    code: false,
    roles: 0,
};

/// Returns the meanings of a folded word. Unlisted words have none.
pub(crate) fn look_up(word: &str) -> &'static Lex {
    LEXICON.get(word).unwrap_or(&NONE)
}

static LEXICON: LazyLock<FxHashMap<&'static str, Lex>> = LazyLock::new(build);

const NUMBERS: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
                       seventeen eighteen nineteen twenty";
const TENS: &str = "thirty forty fifty sixty seventy eighty ninety";
const OTHER_NUMBERS: &[(&str, u8)] =
    &[("both", 2), ("couple", 2), ("pair", 2), ("once", 1), ("twice", 2), ("thrice", 3), ("single", 1)];
const MULTIPLIERS: &[(&str, u32)] = &[
    ("dozen", 12),
    ("hundred", 100),
    ("thousand", 1000),
    ("million", 1_000_000),
    ("billion", 1_000_000_000),
    ("bn", 1_000_000_000),
];
const ORDINALS: &str = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth \
                        fifteenth sixteenth seventeenth eighteenth nineteenth twentieth";
const MONTHS: &str = "january february march april may june july august september october november december";
const SHORT_MONTHS: &[(&str, u8)] = &[
    ("jan", 1),
    ("feb", 2),
    ("mar", 3),
    ("apr", 4),
    ("jun", 6),
    ("jul", 7),
    ("aug", 8),
    ("sep", 9),
    ("sept", 9),
    ("oct", 10),
    ("nov", 11),
    ("dec", 12),
];
const WEEKDAYS: &str = "monday tuesday wednesday thursday friday saturday sunday";
const SHORT_WEEKDAYS: &[(&str, u8)] = &[
    ("mon", 1),
    ("tue", 2),
    ("tues", 2),
    ("wed", 3),
    ("thu", 4),
    ("thur", 4),
    ("thurs", 4),
    ("fri", 5),
    ("sat", 6),
    ("sun", 7),
];

/// Words by role, separated by blanks.
const ROLES: &[(Role, &str)] = &[
    (
        Role::Function,
        "a an the this that these those of in on at by for to from with and or as is are was were be been being am do \
         does did has have had having it its he she they them his her their theirs i me my we us our you your yours \
         which who whom whose what when where why how there here so if then than too also just about into over under \
         between during through per via within without up down out off not no nor but while whereas because since \
         although though will would shall should can could may might must 's 're 've 'll \
         'd 'm let's can't won't don't doesn't didn't isn't aren't wasn't weren't hasn't haven't hadn't couldn't \
         wouldn't shouldn't both each all every any some other another same such own please sorry unfortunately \
         however therefore thus yes no ok okay e g etc",
    ),
    (
        Role::Negator,
        "not no never nor neither without isn't aren't wasn't weren't don't doesn't didn't can't cannot couldn't won't \
         wouldn't hasn't haven't hadn't shouldn't ain't none nothing nobody",
    ),
    (Role::Copula, "is are was were be been am 's 're isn't aren't wasn't weren't equals costs"),
    (
        Role::Hypothetical,
        "if unless whether suppose assuming otherwise might maybe perhaps possibly unsure guess presumably",
    ),
    (
        Role::Identifier,
        "room id ids number no nr num option step page table gate order appointment booking ref reference code version \
         level floor flat apt apartment suite item ticket chapter season episode part bus line platform route track \
         lane seat row slot case invoice reservation account customer patient record entry key desk bay zone unit \
         building block street road avenue terminal ward bed studio hall screen court locker model type class form \
         question answer example point section task playlist user member phone tel telephone extension ext op",
    ),
    (
        Role::Asking,
        "which what who whom whose when where how shall would do does did is are can could should will want ok okay \
         right anything may correct or",
    ),
    (
        Role::Title,
        "dr doctor mr mrs ms miss mx prof professor sir madam dra sr sra herr frau rev capt dame lord lady coach chef \
         judge",
    ),
    (
        Role::Abbreviation,
        "dr mr mrs ms prof rev capt st ave approx no nr etc vs jan feb mar apr jun jul aug sep sept oct nov dec mon tue \
         wed thu fri sat sun inc ltd co jr",
    ),
    (Role::Joint, "but however although though yet except while whereas because since so and"),
];

fn build() -> FxHashMap<&'static str, Lex> {
    let mut words: FxHashMap<&'static str, Lex> = FxHashMap::default();
    let mut at = |word: &'static str, set: &dyn Fn(&mut Lex)| set(words.entry(word).or_default());
    for (value, word) in (0..).zip(NUMBERS.split_whitespace()) {
        at(word, &|lex| lex.number = Some(value));
    }
    for (value, word) in (3..).zip(TENS.split_whitespace()) {
        at(word, &|lex| lex.number = Some(value * 10));
    }
    for (word, value) in OTHER_NUMBERS {
        at(word, &|lex| lex.number = Some(*value));
    }
    for (word, value) in MULTIPLIERS {
        at(word, &|lex| lex.multiplier = Some(*value));
    }
    for (value, word) in (1..).zip(ORDINALS.split_whitespace()) {
        at(word, &|lex| lex.ordinal = value);
    }
    for (month, word) in (1..).zip(MONTHS.split_whitespace()) {
        at(word, &|lex| lex.month = month);
    }
    for (weekday, word) in (1..).zip(WEEKDAYS.split_whitespace()) {
        at(word, &|lex| lex.weekday = weekday);
    }
    for (word, month) in SHORT_MONTHS {
        at(word, &|lex| (lex.month, lex.short) = (*month, true));
    }
    for (word, weekday) in SHORT_WEEKDAYS {
        at(word, &|lex| (lex.weekday, lex.short) = (*weekday, true));
    }
    for (unit, names) in units::WORDS {
        names.split_whitespace().for_each(|word| at(word, &|lex| lex.unit = Some(*unit)));
    }
    for (currency, names) in units::CURRENCY_WORDS {
        names
            .split_whitespace()
            .for_each(|word| at(word, &|lex| lex.currency = Some(Currency::named(currency))));
    }
    for (code, lower) in units::codes() {
        at(lower, &|lex| {
            lex.code = lex.currency.is_none();
            lex.currency.get_or_insert(Currency::named(code));
        });
    }
    for (role, names) in ROLES {
        names.split_whitespace().for_each(|word| at(word, &|lex| lex.roles |= 1 << *role as u16));
    }
    words
}
