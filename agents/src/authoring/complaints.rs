//! Owns the list of what is wrong with a reply to an author.

/// Complaints about a reply: what was found, what was expected. No more than a model can take in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Complaints(Vec<String>);

impl Complaints {
    const MAX_COMPLAINTS: usize = 8;

    /// Adds one.
    pub fn add(&mut self, what: impl Into<String>) {
        if self.0.len() < Self::MAX_COMPLAINTS {
            self.0.push(what.into());
        }
    }

    /// Puts one before all others.
    pub fn add_first(&mut self, what: String) {
        self.0.insert(0, what);
    }

    /// Returns whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all of them.
    pub fn list(&self) -> &[String] {
        &self.0
    }
}
