//! Finds records that paths name by a number or a name within their parent: `/tv/{tv_id}/season/{season_number}`,
//! `/repos/{repo}/labels/{name}`.

use diorama_seeds::contract::plain;

use super::{Collection, Part, Places, form};
use crate::shape::Kind;
use crate::words::{identifier, words};

/// Words that end the names of such numbers.
const NUMBERS: [&str; 5] = ["number", "index", "position", "ordinal", "num"];

impl Places {
    /// Finds the numbers by their names, for child records that callers do not create. Names are those that
    /// callers choose, of child records that show an id beside.
    pub(super) fn find_numbers(&mut self) {
        let numbered =
            self.all.iter().filter_map(|(path, found)| Some((path.clone(), self.number_of(found)?)));
        let numbered: Vec<(String, String)> = numbered.collect();
        for (path, number) in numbered {
            if let Some(found) = self.all.get_mut(&path) {
                found.number = Some(number);
            }
        }
    }

    fn number_of(&self, found: &Collection) -> Option<String> {
        let item = found.item.as_deref().filter(|_| found.opened)?;
        let is_last = |known: &[&str]| words(item).last().is_some_and(|last| known.contains(&last.as_str()));
        let counts =
            !found.made && found.sent.is_none() && found.key_shape.kind == Kind::Integer && is_last(&NUMBERS);
        let shows_id = || found.record.as_ref().and_then(|record| record.member("id"));
        let sent = || found.sent.as_ref().is_some_and(|sent| sent.member(item).is_some());
        let is_named = found.made
            && found.key_shape.kind == Kind::String
            && is_last(&["name"])
            && shows_id().is_some_and(|id| matches!(id.kind, Kind::Integer | Kind::String))
            && sent();
        let above = found.parts.iter().rposition(|part| matches!(part, Part::Key(_)))?;
        let owner = self.all.get(&form(found.parts.get(..above)?))?;
        let members = found.record.as_ref()?.members()?;
        let (member, _) = members.iter().find(|(name, _)| plain(name) == plain(item))?;
        ((counts || is_named) && owner.opened).then(|| identifier(member))
    }
}
