//! The versions of the search for tools.

/// The version of `ToolSearcher`. A version never changes: rows that were recorded with it replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SearchVersion {
    /// `toolsearch/1`: words. Only for rows that name it.
    V1,
    /// `toolsearch/3`: words, meaning and needs, fused by rank.
    #[default]
    V3,
}

impl SearchVersion {
    /// All, oldest first.
    pub const ALL: [Self; 2] = [Self::V1, Self::V3];

    /// Its name in episodes and manifests.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1 => "toolsearch/1",
            Self::V3 => "toolsearch/3",
        }
    }

    /// The version of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }
}
