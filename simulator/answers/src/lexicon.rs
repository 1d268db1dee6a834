//! What single words can mean: one hash look-up per word of an answer.
//!
//! Owns the word lists of the extractor (numbers, months, weekdays, units, currencies, cues). It must not look at
//! more than one word; phrases are the recognisers' business.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use super::units::{self, Currency, Unit};

/// What one word can mean. A word has several roles at once (`may`, `pounds`, `second`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Lex {
    /// A cardinal below a hundred.
    pub number: Option<u8>,
    /// A multiplier: hundred, dozen, thousand, million, billion.
    pub multiplier: Option<u32>,
    /// An ordinal that can name a day of a month.
    pub ordinal: u8,
    /// 1 to 12.
    pub month: u8,
    /// 1 (Monday) to 7.
    pub weekday: u8,
    /// Whether month or weekday is an abbreviation, which counts only with a capital.
    pub short: bool,
    /// A unit of measure.
    pub unit: Option<Unit>,
    /// A currency by word or code.
    pub currency: Option<Currency>,
    /// The currency is named by its code, which counts in capitals only.
    pub code: bool,
    /// A coin: hundredths of some currency.
    pub cents: bool,
    /// Roles in sentences.
    pub roles: Roles,
}

/// A set of roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles(u64);

macro_rules! roles {
    ($($(#[$doc:meta])* $name:ident = $bit:expr;)*) => {
        impl Roles {
            $($(#[$doc])* pub const $name: Self = Self(1 << $bit);)*
        }
    };
}

roles! {
    /// Word without content of its own.
    FUNCTION = 0;
    /// Negates what follows.
    NEGATOR = 1;
    /// Ends the reach of a negation.
    BUT = 2;
    /// A form of `be`, or a word that assigns.
    COPULA = 3;
    /// A past form of `be`.
    WAS = 4;
    /// Title before a name.
    HONORIFIC = 5;
    /// May be followed by a full stop inside a sentence.
    ABBREVIATION = 6;
    /// Speaker is not sure.
    UNCERTAIN = 7;
    /// Starts a clause that is only imagined.
    HYPOTHETICAL = 8;
    /// Value is rounded.
    APPROXIMATE = 9;
    /// A number after it names something: room, option, id.
    IDENTIFIER = 10;
    /// Affirmative answer.
    YES = 11;
    /// Negative answer.
    NO = 12;
    /// Present state, as opposed to an earlier one.
    NOW = 13;
    /// Verb of changing from one value to another.
    CHANGING = 14;
    /// Speaks of several things at once.
    EVERY = 15;
    /// I, we.
    FIRST_PERSON = 16;
    /// Sets two things side by side.
    WHEREAS = 17;
    /// Asks for information.
    ASKING = 18;
    /// Comparison: the thing after `than`.
    THAN = 19;
    /// Formerly true.
    FORMERLY = 20;
    /// Zero of something.
    ZERO = 21;
    /// Comparative or superlative, and other words of choosing.
    COMPARATIVE = 22;
    /// you, your.
    SECOND_PERSON = 23;
    /// Verbs of asking and wanting, which echo the request after `you`.
    WANTING = 24;
    /// Pronoun.
    PRONOUN = 25;
    /// Starts a time of day.
    CLOCK = 26;
    /// A day told from today.
    DAY = 27;
    /// Starts a quantity in words: `no`, `any`, `a`.
    QUANTITY = 28;
}

impl Roles {
    /// Both sets.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether any of these roles is in the set.
    pub const fn any(self, of: Self) -> bool {
        self.0 & of.0 != 0
    }
}

/// Hash of a folded word. FNV-1a over its bytes.
pub const fn hash_word(word: &str) -> u64 {
    let bytes = word.as_bytes();
    let mut hash = HASH_START;
    let mut i = 0;
    while i < bytes.len() {
        hash = hash_byte(hash, bytes[i]);
        i += 1;
    }
    hash
}

/// The hash of no bytes.
pub const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

/// Takes one more byte into a hash.
pub const fn hash_byte(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(0x0100_0000_01b3)
}

/// The hash of a word literal, computed when the crate is compiled.
#[macro_export]
macro_rules! word {
    ($text:literal) => {
        const { $crate::lexicon::hash_word($text) }
    };
}

/// The hashes of the words of a literal, which single spaces part.
#[macro_export]
macro_rules! words {
    ($text:literal) => {
        const {
            use $crate::lexicon::{count_words, hash_words};
            hash_words::<{ count_words($text) }>($text)
        }
    };
}

/// The number of words of a literal.
pub const fn count_words(text: &str) -> usize {
    let (bytes, mut at, mut count) = (text.as_bytes(), 0, 1);
    while at < bytes.len() {
        count += (bytes[at] == b' ') as usize;
        at += 1;
    }
    count
}

/// The hashes of the words of a literal.
#[must_use]
pub const fn hash_words<const COUNT: usize>(text: &str) -> [u64; COUNT] {
    let (bytes, mut at, mut word) = (text.as_bytes(), 0, 0);
    let mut hashes = [HASH_START; COUNT];
    while at < bytes.len() {
        if bytes[at] == b' ' {
            word += 1;
        } else {
            hashes[word] = hash_byte(hashes[word], bytes[at]);
        }
        at += 1;
    }
    hashes
}

/// Hashes are the keys already.
#[derive(Default)]
pub struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = hash_byte(self.0, *byte);
        }
    }
    fn write_u64(&mut self, value: u64) {
        // FNV's low bits are good; its high bits, which the table's control bytes use, are mixed in once more.
        self.0 = value ^ value.rotate_left(32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// A map keyed by word hashes.
pub type WordMap<T> = HashMap<u64, T, BuildHasherDefault<Identity>>;

struct Lexicon {
    words: WordMap<u16>,
    entries: Vec<Lex>,
    /// Spellings of one word: British to American and so on.
    canonical: WordMap<u64>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::build);

/// The position of a word's entry; 0 for words without one.
pub fn find(hash: u64) -> u16 {
    LEXICON.words.get(&hash).copied().unwrap_or(0)
}

/// The entry at a position.
pub fn entry(position: u16) -> &'static Lex {
    &LEXICON.entries[usize::from(position).min(LEXICON.entries.len() - 1)]
}

/// The one spelling of a word that has several.
pub fn canonical(hash: u64) -> u64 {
    LEXICON.canonical.get(&hash).copied().unwrap_or(hash)
}

const NUMBERS: &[(&str, u8)] = &[
    ("zero", 0),
    ("nil", 0),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fourty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
    ("both", 2),
    ("couple", 2),
    ("pair", 2),
    ("once", 1),
    ("twice", 2),
    ("thrice", 3),
    ("single", 1),
];

const MULTIPLIERS: &[(&str, u32)] = &[
    ("dozen", 12),
    ("hundred", 100),
    ("thousand", 1000),
    ("million", 1_000_000),
    ("billion", 1_000_000_000),
    ("mn", 1_000_000),
    ("bn", 1_000_000_000),
    ("mio", 1_000_000),
];

const ORDINALS: &[&str] = &[
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
];

const MONTHS: &[(&str, &str)] = &[
    ("january", "jan"),
    ("february", "feb"),
    ("march", "mar"),
    ("april", "apr"),
    ("may", ""),
    ("june", "jun"),
    ("july", "jul"),
    ("august", "aug"),
    ("september", "sep sept"),
    ("october", "oct"),
    ("november", "nov"),
    ("december", "dec"),
];

const WEEKDAYS: &[(&str, &str)] = &[
    ("monday", "mon"),
    ("tuesday", "tue tues"),
    ("wednesday", "wed weds"),
    ("thursday", "thu thur thurs"),
    ("friday", "fri"),
    ("saturday", "sat"),
    ("sunday", "sun"),
];

/// German, French, Spanish, Portuguese, Italian; folded.
const FOREIGN_MONTHS: &[&str] = &[
    "januar janner janvier enero janeiro gennaio",
    "februar fevrier febrero fevereiro febbraio",
    "marz mars marzo marco",
    "avril abril aprile",
    "mai mayo maio maggio",
    "juni juin junio junho giugno",
    "juli juillet julio julho luglio",
    "aout agosto",
    "septembre septiembre setembro settembre",
    "oktober octobre octubre outubro ottobre",
    "novembre noviembre novembro",
    "dezember decembre diciembre dezembro dicembre",
];

const FOREIGN_WEEKDAYS: &[&str] = &[
    "montag lundi lunes segunda lunedi",
    "dienstag mardi martes terca martedi",
    "mittwoch mercredi miercoles quarta mercoledi",
    "donnerstag jeudi jueves quinta giovedi",
    "freitag vendredi viernes sexta venerdi",
    "samstag samedi sabado sabato",
    "sonntag dimanche domingo domenica",
];

const SPELLINGS: &[(&str, &str)] = &[
    ("cancelled", "canceled"),
    ("cancelling", "canceling"),
    ("colour", "color"),
    ("grey", "gray"),
    ("centre", "center"),
    ("theatre", "theater"),
    ("paediatric", "pediatric"),
    ("paediatrics", "pediatrics"),
    ("paediatrician", "pediatrician"),
    ("licence", "license"),
    ("programme", "program"),
    ("travelling", "traveling"),
    ("orthopaedics", "orthopedics"),
    ("gynaecology", "gynecology"),
    ("organisation", "organization"),
    ("favourite", "favorite"),
    ("harbour", "harbor"),
    ("jewellery", "jewelry"),
    ("aluminium", "aluminum"),
    ("doctor", "dr"),
    ("fulfilled", "fulfilled"),
    ("catalogue", "catalog"),
    ("anaesthesia", "anesthesia"),
];

/// Words by role, separated by blanks. Contractions stand without their apostrophe.
const ROLES: &[(Roles, &str)] = &[
    (
        Roles::FUNCTION,
        "a an the this that these those of in on at by for to from with and or as is are was were be been being am do \
         does did has have had having it its he she they them his her their theirs i me my we us our you your yours \
         which who whom whose what when where why how there here so if then than too also just only about into over \
         under after before until till between during through per via within without up down out off not no nor but \
         while whereas because since although though will would shall should can could may might must not im ive id \
         ill youre youve youd theyre weve were hes shes thats theres heres lets cant wont dont doesnt didnt isnt \
         arent wasnt werent hasnt havent hadnt couldnt wouldnt shouldnt both each all every any some more most less \
         least other another same such own please sorry unfortunately however therefore thus yes no ok okay now today \
         e g eg ie etc",
    ),
    (
        Roles::NEGATOR,
        "not no never nor neither without isnt arent wasnt werent dont doesnt didnt cant cannot couldnt wont wouldnt \
         hasnt havent hadnt shouldnt aint nowhere none",
    ),
    (
        Roles::BUT,
        "but however although though instead yet actually except whereas while because since and so",
    ),
    (
        Roles::COPULA,
        "is are was were be been am equals costs cost being becomes s isnt arent wasnt werent its hes shes thats",
    ),
    (Roles::WAS, "was were wasnt werent"),
    (
        Roles::HONORIFIC.and(Roles::ABBREVIATION),
        "dr doctor mr mrs ms miss mx prof professor sir madam dra sr sra herr frau rev fr capt captain dame lord lady \
         coach chef judge officer",
    ),
    (
        Roles::ABBREVIATION,
        "ave blvd approx no nr etc jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur \
         thurs fri sat sun inc ltd co corp jr e i g hr hrs min mins sec kg km",
    ),
    (
        Roles::UNCERTAIN,
        "might maybe perhaps possibly may could unsure guess guessing presumably unclear unconfirmed",
    ),
    (Roles::HYPOTHETICAL, "if unless whether suppose assuming otherwise"),
    (Roles::APPROXIMATE, "about approximately approx around roughly circa nearly almost ca"),
    (
        Roles::IDENTIFIER,
        "room id ids number no nr num option step page table gate order appointment booking ref reference code version \
         level floor flat apt apartment suite item ticket chapter season episode part bus line platform route track \
         lane seat row slot case invoice reservation account customer patient record entry key desk bay zone unit \
         building block street road avenue terminal ward bed studio hall screen court locker model type class form \
         question answer example point section task playlist user member phone tel telephone extension ext",
    ),
    (Roles::YES, "yes yeah yep yup correct indeed affirmative true sim ja si oui"),
    (Roles::NO, "no nope nah negative false nein nao non incorrect"),
    (Roles::NOW, "now currently instead presently new updated"),
    (
        Roles::CHANGING,
        "changed moved rescheduled updated increased raised lowered decreased reduced went switched transferred shifted \
         dropped rose grew fell postponed brought pushed replaced renamed converted upgraded downgraded corrected \
         extended shortened changes move moving change update goes",
    ),
    (Roles::EVERY, "each both all every either apiece everyone everything same"),
    (Roles::FIRST_PERSON, "i we ive weve im id ill my our"),
    (Roles::WHEREAS, "while whereas whilst although though versus vs compared"),
    (Roles::ASKING, "which what who whom when where whose how"),
    (Roles::THAN, "than unlike versus vs"),
    (Roles::FORMERLY, "previously formerly originally old former previous original initially"),
    (Roles::ZERO, "none nothing nobody zero"),
    (
        Roles::COMPARATIVE,
        "cheaper cheapest dearer closer closest nearer nearest better best higher highest lower lowest longer longest \
         shorter shortest faster fastest earlier earliest later latest sooner soonest bigger biggest larger largest \
         smaller smallest older oldest newer newest most least winner more expensive fewer fewest top",
    ),
    (Roles::SECOND_PERSON, "you your youre youve youd yours"),
    (
        Roles::WANTING,
        "asked requested wanted want mentioned said gave provided specified wrote needed looking request preferred \
         meant entered typed suggested thought budget",
    ),
    (
        Roles::PRONOUN,
        "it its he she they them his her their this that these those there hes shes theyre thats theres i we you ive \
         weve im",
    ),
    (Roles::CLOCK, "noon midday midnight half quarter"),
    (Roles::DAY, "today tonight tomorrow yesterday"),
    (Roles::QUANTITY, "no none nothing nobody any a an half"),
];

impl Lexicon {
    fn build() -> Self {
        let mut lexicon = Self {
            words: WordMap::default(),
            entries: vec![Lex::default()],
            canonical: SPELLINGS.iter().map(|(from, to)| (hash_word(from), hash_word(to))).collect(),
        };
        for (word, value) in NUMBERS {
            lexicon.at(word).number = Some(*value);
        }
        for (word, value) in MULTIPLIERS {
            lexicon.at(word).multiplier = Some(*value);
        }
        for (i, word) in ORDINALS.iter().enumerate() {
            lexicon.at(word).ordinal = i as u8 + 1;
        }
        lexicon.at("thirtieth").ordinal = 30;
        for (i, (full, short)) in MONTHS.iter().enumerate() {
            lexicon.at(full).month = i as u8 + 1;
            for word in short.split_whitespace() {
                let lex = lexicon.at(word);
                lex.month = i as u8 + 1;
                lex.short = true;
            }
        }
        for (i, (full, short)) in WEEKDAYS.iter().enumerate() {
            lexicon.at(full).weekday = i as u8 + 1;
            for word in short.split_whitespace() {
                let lex = lexicon.at(word);
                lex.weekday = i as u8 + 1;
                lex.short = true;
            }
        }
        for (unit, words) in units::WORDS {
            for word in words.split_whitespace() {
                lexicon.at(word).unit = Some(*unit);
            }
        }
        for (currency, words) in units::CURRENCY_WORDS {
            for word in words.split_whitespace() {
                lexicon.at(word).currency = Some(Currency::named(currency));
            }
        }
        for code in units::CODES {
            let lex = lexicon.at(&code.to_ascii_lowercase());
            lex.code = lex.currency.is_none() && !matches!(*code, "EUR" | "USD" | "GBP");
            lex.currency.get_or_insert(Currency::named(code));
        }
        for word in ["cent", "cents", "pence", "penny", "centimes", "centavos"] {
            lexicon.at(word).cents = true;
        }
        for (i, words) in FOREIGN_MONTHS.iter().enumerate() {
            for word in words.split_whitespace() {
                lexicon.at(word).month = i as u8 + 1;
            }
        }
        for (i, words) in FOREIGN_WEEKDAYS.iter().enumerate() {
            for word in words.split_whitespace() {
                lexicon.at(word).weekday = i as u8 + 1;
            }
        }
        for (roles, words) in ROLES {
            for word in words.split_whitespace() {
                let lex = lexicon.at(word);
                lex.roles = lex.roles.and(*roles);
            }
        }
        lexicon
    }

    fn at(&mut self, word: &str) -> &mut Lex {
        let hash = hash_word(word);
        let next = self.entries.len();
        let position = *self.words.entry(hash).or_insert(next as u16);
        if usize::from(position) == next {
            self.entries.push(Lex::default());
        }
        &mut self.entries[usize::from(position)]
    }
}
