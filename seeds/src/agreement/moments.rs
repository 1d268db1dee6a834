//! Owns the order of timestamps by their names, and their position before or after the current time.

use super::table::{Line, has, lines};
use crate::english::split_identifier;

/// Position of a timestamp relative to the current time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lies {
    /// Before the current time.
    Past,
    /// On either side.
    Any,
    /// After the current time.
    Future,
}

/// The type of a string that holds a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MomentKind {
    /// A date without a time.
    Date,
    /// A date with a time.
    DateTime,
}

/// The meaning of a timestamp's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Line number of its word in the table.
    stage: Option<usize>,
    /// Position relative to the current time.
    pub lies: Lies,
    /// True if months lie between it and the preceding timestamp, rather than days.
    pub is_long: bool,
    /// The remaining words of its name.
    of: Vec<String>,
}

impl Moment {
    /// Parses a name.
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

    /// Returns the type of a timestamp with this name, if the name alone shows it.
    pub fn kind_by_name(name: &str) -> Option<MomentKind> {
        let words: Vec<String> = split_identifier(name).into_iter().flat_map(apart).collect();
        let last = words.last()?.as_str();
        match last {
            "date" | "birthday" | "deathday" | "birthdate" | "dob" => Some(MomentKind::Date),
            "at" | "datetime" | "timestamp" if words.len() > 1 => Some(MomentKind::DateTime),
            // `start_time` may be a time of day without a date.
            "time" if words.len() > 1 && Self::named(name).lies == Lies::Past => Some(MomentKind::DateTime),
            _ if words.first().is_some_and(|first| first == "date") => {
                words.iter().skip(1).any(|word| line(word).is_some()).then_some(MomentKind::DateTime)
            }
            _ => None,
        }
    }

    /// Returns true if this timestamp comes before another one of the same object.
    pub fn precedes(&self, other: &Self) -> bool {
        let (Some(own), Some(theirs)) = (self.stage, other.stage) else { return false };
        if other.is_last() {
            // A future event is not a change yet.
            return own < theirs && self.lies == Lies::Past;
        }
        let begins = self.of.is_empty() && self.is_first();
        own < theirs && (self.of == other.of || begins)
    }

    /// Returns true if the timestamp is the creation of the object, or earlier.
    pub fn is_first(&self) -> bool {
        self.stage.is_some() && self.stage <= stage_of("created")
    }

    /// Returns true if the timestamp is the last change of the whole object.
    pub fn is_last(&self) -> bool {
        self.is_latest() && self.of.iter().all(|word| stage_of(word) == self.stage)
    }

    /// Returns true if the timestamp is the last event of some kind.
    pub fn is_latest(&self) -> bool {
        self.stage.is_some() && self.stage == stage_of("updated")
    }

    /// Returns true if the timestamp is a birth, which lies years ago.
    pub fn is_birth(&self) -> bool {
        self.stage.is_some() && self.stage == stage_of("birth")
    }

    /// Returns the position in the life of the object, if the name shows it. Lower positions come first.
    pub const fn stage(&self) -> Option<usize> {
        self.stage
    }
}

/// Returns the line of a word with its number.
fn line(word: &str) -> Option<(usize, &'static Line)> {
    lines("moments").iter().enumerate().find(|(_, line)| line.has(word))
}

/// Returns the position of a word in the life of an object.
pub(super) fn stage_of(word: &str) -> Option<usize> {
    line(word).map(|(stage, _)| stage)
}

/// Splits a compound word into its parts: `startdate`, `lastupdate`, `dateuploaded`.
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
