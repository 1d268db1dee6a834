//! Makes the rows of a dataset's configuration `structured`.

use super::conversation::Conversation;
use super::options::SearchForm;
use super::{endings, searched};
use crate::row::{Dialogue, RowFault};

/// Returns a row with structured endings: each goal ends with a call of `finish`, and found APIs are called
/// through `call_api`. Columns that the configuration lacks are empty.
///
/// # Errors
/// Returns a fault if the row has no structured form.
pub(crate) fn make_structured(row: &Dialogue) -> Result<Dialogue, RowFault> {
    let mut conversation = Conversation::of(row)?;
    endings::apply(row, &mut conversation)?;
    conversation.number_calls(&row.id);
    searched::render(&mut conversation, SearchForm::Dispatch);
    let (tools, messages) = conversation.into_columns();
    Ok(Dialogue {
        id: row.id.clone(),
        split: row.split,
        ability: row.ability,
        tags: row.tags.clone(),
        difficulty: row.difficulty,
        domains: row.domains.clone(),
        tools,
        messages,
        license: row.license.clone(),
        source: row.source.clone(),
        ..Dialogue::blank()
    })
}
