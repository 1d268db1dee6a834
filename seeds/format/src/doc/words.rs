//! Owns the closed vocabularies of the world format, as enums.
//!
//! A word outside of its vocabulary is refused at its position, with the list of allowed words. The JSON
//! Schema lists the words, too. The compiled model uses the same enums.

use std::fmt;
use std::ops::Deref;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Declares an enum with one spelling for each variant.
macro_rules! words {
    ($($(#[$meta:meta])* $name:ident { $($(#[$about:meta])* $variant:ident = $word:literal,)+ })+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum $name {
            $($(#[$about])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All words, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Returns the spelling of the word in documents.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// Parses a word.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|word| word.as_str() == text)
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                self.as_str()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )+};
}

words! {
    /// The type of a field or parameter.
    TypeName {
        /// A whole number of 64 bits.
        Integer = "integer",
        /// A finite number.
        Number = "number",
        /// A number with a fixed count of decimal places.
        Decimal = "decimal",
        /// A day.
        Date = "date",
        /// A time of day.
        Time = "time",
        /// A point in time, to the second.
        DateTime = "date-time",
        /// True or false.
        Boolean = "boolean",
        /// Text.
        String = "string",
        /// Values of one type, in order.
        List = "list",
        /// Named members.
        Object = "object",
        /// Any JSON value.
        Any = "any",
    }

    /// Effect of deleting a record on the records that refer to it.
    #[derive(Default)]
    OnDelete {
        /// The deletion is refused with 409.
        #[default]
        Restrict = "restrict",
        /// The referring record is deleted too.
        Cascade = "cascade",
        /// The reference becomes null, or leaves its list.
        Clear = "clear",
    }

    /// An HTTP method.
    #[derive(Default)]
    Method {
        /// Reads.
        #[default]
        Get = "GET",
        /// Creates, or acts.
        Post = "POST",
        /// Replaces.
        Put = "PUT",
        /// Changes in part.
        Patch = "PATCH",
        /// Deletes.
        Delete = "DELETE",
        /// Reads, with its arguments in a body.
        Query = "QUERY",
    }

    /// The part of an HTTP request that has a parameter.
    Place {
        /// A segment of the path, or a part of one.
        Path = "path",
        /// The query string.
        Query = "query",
        /// A member of the body.
        Body = "body",
        /// A header.
        Header = "header",
        /// A cookie.
        Cookie = "cookie",
    }

    /// The part of an HTTP request that has an API key.
    KeyPlace {
        /// A header.
        Header = "header",
        /// The query string.
        Query = "query",
        /// A cookie.
        Cookie = "cookie",
    }

    /// A comparison of a field (left) with an argument (right).
    #[derive(Default)]
    Comparison {
        /// Same value.
        #[default]
        Equal = "eq",
        /// Another value.
        NotEqual = "ne",
        /// Less than the argument.
        Less = "lt",
        /// At most the argument.
        LessOrEqual = "le",
        /// More than the argument.
        Greater = "gt",
        /// At least the argument.
        GreaterOrEqual = "ge",
        /// A date-time falls on a date.
        On = "on",
        /// A string begins with the argument, in any case.
        Prefix = "prefix",
        /// A string contains the argument, in any case.
        Contains = "contains",
        /// A list holds the argument.
        Has = "has",
        /// The argument is a list that holds the field's value.
        In = "in",
    }

    /// How callers name a page.
    #[derive(Default)]
    PageStyle {
        /// By number.
        #[default]
        Page = "page",
        /// By the number of items to skip.
        Offset = "offset",
        /// By an opaque token from the reply before.
        Cursor = "cursor",
    }

    /// A paging member of a reply.
    PagingMember {
        /// The page's number.
        Page = "page",
        /// The number of pages.
        Pages = "pages",
        /// The number of items before the page.
        Offset = "offset",
        /// The greatest number of items on a page.
        Limit = "limit",
        /// The cursor, number or offset of the next page; null on the last.
        Next = "next",
    }
}
