//! Owns the positions that identify parts of a world.

macro_rules! position {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub struct $name(pub u16);
        impl $name {
            /// Returns the position as an index.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

position!(
    /// Position of a domain in the domains of a world.
    DomainId
);
position!(
    /// Position of a resource in the resources of a world.
    ResourceId
);
position!(
    /// Position of a field in the fields of a resource, and of its value in a record.
    FieldId
);
position!(
    /// Position of an API in the APIs of a world.
    ApiId
);
position!(
    /// Position of a parameter in the parameters of an API, and of its value among a call's arguments.
    ParameterId
);
