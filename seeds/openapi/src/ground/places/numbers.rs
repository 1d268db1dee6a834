//! Finds records that paths name by a number within their parent: `/tv/{tv_id}/season/{season_number}`.

use diorama_seeds::contract::plain;

use super::{Collection, Part, Places, form};
use crate::shape::Kind;
use crate::words::{identifier, words};

/// Words that end the names of such numbers.
const NUMBERS: [&str; 5] = ["number", "index", "position", "ordinal", "num"];

impl Places {
    /// Finds the numbers by their names, for child records that callers do not create.
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
        let item = found.item.as_deref().filter(|_| found.opened && !found.made && found.sent.is_none())?;
        let counts = found.key_shape.kind == Kind::Integer
            && words(item).last().is_some_and(|last| NUMBERS.contains(&last.as_str()));
        let above = found.parts.iter().rposition(|part| matches!(part, Part::Key(_)))?;
        let owner = self.all.get(&form(found.parts.get(..above)?))?;
        let members = found.record.as_ref()?.members()?;
        let (member, _) = members.iter().find(|(name, _)| plain(name) == plain(item))?;
        (counts && owner.opened).then(|| identifier(member))
    }
}
