//! The versions of the search for tools.

/// What `ToolSearcher` does. A version never changes: rows that were recorded with it replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SearchVersion {
    /// `toolsearch/1`: words.
    #[default]
    V1,
    /// `toolsearch/2`: words and meaning, fused by rank.
    V2,
}

impl SearchVersion {
    /// All, oldest first.
    pub const ALL: [Self; 2] = [Self::V1, Self::V2];

    /// Its name in episodes and manifests.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1 => "toolsearch/1",
            Self::V2 => "toolsearch/2",
        }
    }

    /// The version of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }
}
