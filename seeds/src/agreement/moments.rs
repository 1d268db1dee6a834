//! Moments: which of two comes first, and whether they lie behind or ahead.

use super::table::{Line, has, lines};
use crate::english::split_identifier;

/// Where a moment lies, seen from the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lies {
    /// Behind.
    Past,
    /// Anywhere.
    Any,
    /// Ahead.
    Future,
}

/// The type of a text that holds a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MomentKind {
    /// A day.
    Date,
    /// A day and a time.
    DateTime,
}

/// What the name of a moment says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The line of its word in the table.
    stage: Option<usize>,
    /// Where it lies.
    pub lies: Lies,
    /// Months lie between it and what comes before, not days.
    pub is_long: bool,
    /// The words of what it is a moment of.
    of: Vec<String>,
}

impl Moment {
    /// Reads a name.
    ///
    /// ```
    /// use diorama_seeds::agreement::Moment;
    ///
    /// let [created, start, end] = ["createdAt", "stay_start", "stay_end"].map(Moment::named);
    /// assert!(created.precedes(&start) && start.precedes(&end) && !end.precedes(&start));
    /// ```
    pub fn named(name: &str) -> Self {
        let mut of: Vec<String> =
            split_identifier(name).into_iter().flat_map(apart).filter(|word| !has("times", word)).collect();
        let is_long = of.iter().any(|word| has("periods", word));
        let place = match of.first() {
            Some(first) if has("ordinals", first) => Some(0),
            _ => of.iter().rposition(|word| line(word).is_some()),
        };
        let said = place.and_then(|place| Some((line(of.get(place)?)?, place)));
        let Some(((stage, words), place)) = said else {
            let is_done = of.iter().any(|word| word.len() > 4 && word.ends_with("ed"));
            return Self { stage: None, lies: if is_done { Lies::Past } else { Lies::Any }, is_long, of };
        };
        let word = of.remove(place);
        let lies = match words.key.rsplit(' ').next() {
            Some("past") => Lies::Past,
            Some("future") => Lies::Future,
            _ if words.done.contains(&word.as_str()) => Lies::Past,
            _ => Lies::Any,
        };
        Self { stage: Some(stage), lies, is_long: is_long || words.key.starts_with("long"), of }
    }

    /// The type that a text of this name has, where nothing but the name tells one.
    pub fn kind_by_name(name: &str) -> Option<MomentKind> {
        let words: Vec<String> = split_identifier(name).into_iter().flat_map(apart).collect();
        let last = words.last()?.as_str();
        match last {
            "date" | "birthday" | "deathday" | "birthdate" | "dob" => Some(MomentKind::Date),
            "at" | "datetime" | "timestamp" if words.len() > 1 => Some(MomentKind::DateTime),
            // `start_time` may be a time of day.
            "time" if words.len() > 1 && Self::named(name).lies == Lies::Past => Some(MomentKind::DateTime),
            _ if words.first().is_some_and(|first| first == "date") => {
                words.iter().skip(1).any(|word| line(word).is_some()).then_some(MomentKind::DateTime)
            }
            _ => None,
        }
    }

    /// Returns true if this comes before another moment of the same thing.
    pub fn precedes(&self, other: &Self) -> bool {
        let (Some(own), Some(theirs)) = (self.stage, other.stage) else { return false };
        if other.is_last() {
            // What is to come changes nothing yet.
            return own < theirs && self.lies == Lies::Past;
        }
        let begins = self.of.is_empty() && self.is_first();
        own < theirs && (self.of == other.of || begins)
    }

    /// Returns true if it is the moment at which something came to be, or before.
    pub fn is_first(&self) -> bool {
        self.stage.is_some() && self.stage <= stage_of("created")
    }

    /// Returns true if it is the moment of the last change of the whole thing.
    pub fn is_last(&self) -> bool {
        self.is_latest() && self.of.iter().all(|word| stage_of(word) == self.stage)
    }

    /// Returns true if it is the last moment of something.
    pub fn is_latest(&self) -> bool {
        self.stage.is_some() && self.stage == stage_of("updated")
    }

    /// Returns true if it is a birth, years ago.
    pub fn is_birth(&self) -> bool {
        self.stage.is_some() && self.stage == stage_of("birth")
    }

    /// The place in the life of a thing, where its word tells it: lower ones come first.
    pub const fn stage(&self) -> Option<usize> {
        self.stage
    }
}

/// The line of a word, and its place.
fn line(word: &str) -> Option<(usize, &'static Line)> {
    lines("moments").iter().enumerate().find(|(_, line)| line.has(word))
}

/// The place of a word in the life of a thing.
pub(super) fn stage_of(word: &str) -> Option<usize> {
    line(word).map(|(stage, _)| stage)
}

/// The parts of a word that is written together: `startdate`, `lastupdate`, `dateuploaded`.
fn apart(word: String) -> Vec<String> {
    let is_known = |word: &str| word.len() > 2 && (line(word).is_some() || has("times", word));
    if is_known(&word) {
        return vec![word];
    }
    let before = |first: &str| word.strip_prefix(first).filter(|rest| is_known(rest));
    let after = |last: &str| word.strip_suffix(last).filter(|rest| is_known(rest));
    for part in ["date", "time", "last", "first"] {
        if let Some(rest) = before(part) {
            return vec![part.to_owned(), rest.to_owned()];
        }
        if let Some(rest) = after(part) {
            return vec![rest.to_owned(), part.to_owned()];
        }
    }
    vec![word]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_first_is_told_by_names_in_any_style() {
        let check = |first: &str, second: &str, ordered: bool| {
            let [first_moment, second_moment] = [first, second].map(Moment::named);
            assert_eq!(first_moment.precedes(&second_moment), ordered, "{first} {second}");
            assert!(!second_moment.precedes(&first_moment), "{second} {first}");
        };
        for (first, second) in [
            ("created_at", "updatedAt"),
            ("date_created", "lastModifiedDate"),
            ("datecreate", "lastupdate"),
            ("startTime", "end_time"),
            ("check_in", "check_out"),
            ("sent_at", "opened_at"),
            ("opened_at", "closed_at"),
            ("first_action_date", "latest_action_date"),
            ("issued_on", "dueDate"),
            ("valid_from", "valid_until"),
            ("pickup_start", "pickup_end"),
            ("createDate", "finished_at"),
            ("InvoiceDate", "PayDate"),
            ("ArchivedAt", "RestoredAt"),
        ] {
            check(first, second, true);
        }
        check("stay_start", "flight_end", false);
        check("timestamp", "updated_at", false);
    }

    #[test]
    fn names_tell_where_a_moment_lies() {
        let lies = |name: &str| Moment::named(name).lies;
        assert_eq!(["paid_at", "date_finished", "dateuploaded", "lastSeen"].map(lies), [Lies::Past; 4]);
        assert_eq!(["expires_at", "dueDate", "next_run"].map(lies), [Lies::Future; 3]);
        assert_eq!(["start", "end_date", "timestamp"].map(lies), [Lies::Any; 3]);
        let kind = Moment::kind_by_name;
        assert_eq!(kind("createDate"), Some(MomentKind::Date));
        assert_eq!(kind("date_created"), Some(MomentKind::DateTime));
        assert_eq!(kind("updatedAt"), Some(MomentKind::DateTime));
        assert_eq!(kind("created_time"), Some(MomentKind::DateTime));
        assert_eq!(["date_format", "at", "start_time", "format"].map(kind), [None; 4]);
    }
}
