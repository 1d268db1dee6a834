//! Locations: parses the path or URL that a user writes.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use object_store::path::Path as ObjectPath;

/// A local folder, or a prefix of a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A local folder.
    Local(PathBuf),
    /// Objects with a common prefix.
    Objects {
        /// The kind of store.
        provider: Provider,
        /// The bucket, or the container.
        bucket: String,
        /// The common prefix of object names, without `/` at its ends. Empty for the whole bucket.
        prefix: String,
    },
}

/// A kind of object store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// Amazon S3, and servers that speak its protocol.
    S3,
    /// Google Cloud Storage.
    Gcs,
    /// Azure Blob Storage.
    Azure,
}

/// The reason for which a location cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found the location `{text}`, {expected}")]
pub struct LocationError {
    text: String,
    expected: &'static str,
}

impl Provider {
    const ALL: [Self; 3] = [Self::S3, Self::Gcs, Self::Azure];

    pub(super) const fn scheme(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Gcs => "gs",
            Self::Azure => "az",
        }
    }

    /// Returns the prefix of its environment variables.
    pub const fn settings_prefix(self) -> &'static str {
        match self {
            Self::S3 => "AWS_",
            Self::Gcs => "GOOGLE_",
            Self::Azure => "AZURE_",
        }
    }
}

impl Location {
    /// Returns the full name of a file below it.
    pub fn join(&self, name: &str) -> String {
        match self {
            Self::Local(path) if name.is_empty() => path.display().to_string(),
            Self::Local(path) => path.join(name).display().to_string(),
            Self::Objects { .. } if name.is_empty() => self.to_string(),
            Self::Objects { .. } => format!("{self}/{name}"),
        }
    }

    /// Returns the folder, if the location is local.
    pub fn as_local(&self) -> Option<&Path> {
        match self {
            Self::Local(path) => Some(path),
            Self::Objects { .. } => None,
        }
    }
}

impl FromStr for Location {
    type Err = LocationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = |expected| LocationError { text: without_password(text), expected };
        let Some((scheme, rest)) = text.split_once("://") else {
            return match text {
                "" => Err(wrong("expected a folder or a URL")),
                path => Ok(Self::Local(PathBuf::from(path))),
            };
        };
        if scheme == "file" {
            let path = rest.strip_prefix("localhost").unwrap_or(rest);
            let decoded = percent_encoding::percent_decode_str(path).decode_utf8();
            return match decoded {
                Ok(path) if path.starts_with('/') => Ok(Self::Local(PathBuf::from(&*path))),
                _ => Err(wrong("expected an absolute path after file://, such as file:///data/rows")),
            };
        }
        let provider = Provider::ALL.into_iter().find(|provider| provider.scheme() == scheme);
        let provider =
            provider.ok_or_else(|| wrong("expected a folder or a URL of s3://, gs://, az:// or file://"))?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if bucket.is_empty() || !bucket.chars().all(plain) {
            return Err(wrong(
                "expected the name of a bucket after ://, such as s3://bucket/prefix; credentials come from the environment",
            ));
        }
        let prefix = prefix.trim_end_matches('/');
        let clean = ObjectPath::parse(prefix).is_ok_and(|path| path.as_ref() == prefix)
            && !prefix.contains(['?', '#', '%'])
            && !prefix.split('/').any(|part| part == ".." || part == ".");
        if !clean {
            return Err(wrong(
                "expected a prefix of names with single `/` between them, without `?`, `#`, `%`, `.` and `..`",
            ));
        }
        Ok(Self::Objects { provider, bucket: bucket.to_owned(), prefix: prefix.to_owned() })
    }
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(path) => write!(formatter, "{}", path.display()),
            Self::Objects { provider, bucket, prefix } if prefix.is_empty() => {
                write!(formatter, "{}://{bucket}", provider.scheme())
            }
            Self::Objects { provider, bucket, prefix } => {
                write!(formatter, "{}://{bucket}/{prefix}", provider.scheme())
            }
        }
    }
}

/// Returns a URL without the part before `@`, which may be a password.
fn without_password(text: &str) -> String {
    match (text.split_once("://"), text.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://...@{rest}"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::Location;

    #[test]
    fn locations_are_paths_or_urls() {
        for (text, expected) in [
            ("rows", "rows"),
            ("/data/rows", "/data/rows"),
            ("file:///data/my%20rows", "/data/my rows"),
            ("s3://bucket/a/b/", "s3://bucket/a/b"),
            ("s3://bucket", "s3://bucket"),
            ("gs://bucket/a", "gs://bucket/a"),
            ("az://container/a", "az://container/a"),
        ] {
            let location: Location = text.parse().unwrap();
            assert_eq!(location.to_string(), expected);
            assert_eq!(location.join("data/x"), format!("{expected}/data/x"));
        }
    }

    #[test]
    fn a_wrong_location_is_refused_without_its_password() {
        for (text, expected) in [
            ("", "expected a folder or a URL"),
            ("file://rows", "expected an absolute path"),
            ("ftp://host/rows", "expected a folder or a URL of s3://"),
            ("s3://", "expected the name of a bucket"),
            ("s3://key:secret@bucket/a", "expected the name of a bucket"),
            ("s3://bucket/a//b", "expected a prefix"),
            ("s3://bucket/../b", "expected a prefix"),
            ("az://container/a?sig=secret", "expected a prefix"),
        ] {
            let error = text.parse::<Location>().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
            assert!(!error.contains("key:secret"), "{error}");
        }
    }
}
