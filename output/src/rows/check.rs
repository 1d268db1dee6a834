//! Checks a row before it is written, column by column.

use crate::columns::{COLUMNS, Cell, Column, Kind, Table};
use crate::row::{Dialogue, Message, RowFault};

impl Dialogue {
    /// Returns the bytes of text in the row, which limit the size of row groups.
    pub fn text_bytes(&self) -> usize {
        let bytes = |column: &Column| match column.cell {
            Cell::Text(get, _) => get(self).len(),
            Cell::Optional(get, _) => get(self).map_or(0, str::len),
            Cell::Texts(get, _) => get(self).iter().map(String::len).sum(),
            Cell::Messages => self.messages.iter().map(Message::text_bytes).sum(),
            Cell::Number(..) | Cell::OptionalNumber(..) => 0,
        };
        COLUMNS.iter().map(bytes).sum()
    }

    /// Checks properties that readers depend on: required names are not empty, and JSON text is valid JSON.
    ///
    /// # Errors
    /// The first fault, with the row's id and the column.
    pub fn check(&self) -> Result<(), RowFault> {
        self.check_columns(Table::Dialogues)
    }

    pub(super) fn check_columns(&self, table: Table) -> Result<(), RowFault> {
        let fault = |column: &'static str, what: String| RowFault { row: self.id.clone(), column, what };
        for column in table.columns() {
            let Cell::Text(get, _) = column.cell else { continue };
            let (name, text) = (column.field.name, get(self));
            if column.is_needed && text.is_empty() {
                return Err(fault(name, "is empty, but every row needs it".to_owned()));
            }
            if column.field.kind == Kind::Json {
                serde_json::from_str::<serde::de::IgnoredAny>(text)
                    .map_err(|error| fault(name, format!("is not JSON: {error}")))?;
            }
        }
        if self.domains.is_empty() || self.domains.iter().any(String::is_empty) {
            return Err(fault("domains", "is empty, but every row needs it".to_owned()));
        }
        for (index, message) in self.messages.iter().enumerate() {
            for call in &message.tool_calls {
                let arguments = call.function.arguments.as_str();
                if !arguments.trim_start().starts_with('{') {
                    let what = format!(
                        "message {index}: the arguments of `{}` are no JSON object",
                        call.function.name
                    );
                    return Err(fault("messages", what));
                }
                serde_json::from_str::<serde::de::IgnoredAny>(arguments).map_err(|error| {
                    let name = &call.function.name;
                    fault(
                        "messages",
                        format!("message {index}: the arguments of `{name}` are not JSON: {error}"),
                    )
                })?;
            }
        }
        Ok(())
    }
}
