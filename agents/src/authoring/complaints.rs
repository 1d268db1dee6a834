//! Owns the list of complaints about a reply to an author.

/// Complaints about a reply: what was found and what was expected. The list is short enough for a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Complaints(Vec<String>);

impl Complaints {
    const MAX_COMPLAINTS: usize = 8;

    /// Adds a complaint, unless the list is full.
    pub fn add(&mut self, what: impl Into<String>) {
        if self.0.len() < Self::MAX_COMPLAINTS {
            self.0.push(what.into());
        }
    }

    /// Inserts a complaint before all others.
    pub fn add_first(&mut self, what: String) {
        self.0.insert(0, what);
    }

    /// Returns true if there are no complaints.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all complaints.
    pub fn list(&self) -> &[String] {
        &self.0
    }
}
