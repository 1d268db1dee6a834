//! Owns the versions of the search for tools.

/// The version of `ToolSearcher`. A version never changes, so that recorded rows replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SearchVersion {
    /// `toolsearch/1`: words. Only for rows that name it.
    V1,
    /// `toolsearch/3`: words, meaning and needs, fused by rank. A hit that needs a token is followed by the
    /// API that issues it. Only for rows that name it.
    V3,
    /// `toolsearch/4`: finds the same hits as `toolsearch/3`, and shows only the hits.
    #[default]
    V4,
}

impl SearchVersion {
    /// All versions, oldest first.
    pub const ALL: [Self; 3] = [Self::V1, Self::V3, Self::V4];

    /// Returns the name in episodes and manifests.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1 => "toolsearch/1",
            Self::V3 => "toolsearch/3",
            Self::V4 => "toolsearch/4",
        }
    }

    /// Returns the version with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }
}
