//! Owns unusual values, texts and bytes for the fuzz test.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value as Json, json};

use super::wire::{Draft, Framing};

/// Mark in the serialized JSON that raw text replaces.
const HOLE: &str = "\u{2}hole\u{2}";

const TEXTS: [&str; 18] = [
    "",
    " ",
    "0",
    "-1",
    "null",
    "true",
    "\u{0}",
    "\u{202e}abc",
    "e\u{301}\u{301}\u{301}",
    "\u{1f9d1}\u{200d}\u{1f680}",
    "../../etc/passwd",
    "' OR 1=1 --",
    "{{name}}",
    "${jndi:x}",
    "2026-02-30",
    "2026-13-01T25:61",
    "99999-01-01",
    "\u{feff}x",
];

/// Draws JSON text that no serializer writes.
fn raw(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let deep = |open: &str, close: &str, depth: usize| {
        format!("{}1{}", open.repeat(depth), close.repeat(depth)).into_bytes()
    };
    let depth = *[20, 126, 127, 128, 129, 1_000, 100_000].choose(rng).unwrap();
    match rng.random_range(0..15) {
        0..3 => deep("[", "]", depth),
        3..5 => deep("{\"a\":", "}", depth),
        5 => format!("[{}1]", "1,".repeat(depth)).into_bytes(),
        6 => format!("\"{}\"", "a".repeat(depth * 3)).into_bytes(),
        7 => b"\"\xff\xfe\"".to_vec(),
        8 => b"{\"a\":1,\"a\":2}".to_vec(),
        _ => {
            let odd = [
                "\"\\ud800\"",
                "\"\\u0000\"",
                "1e400",
                "-0",
                "01",
                "NaN",
                "9223372036854775808",
                "1E+2",
                "1e-400",
                "\"\\x\"",
                "'a'",
            ];
            odd.choose(rng).unwrap().as_bytes().to_vec()
        }
    }
}

/// Draws a value of any type.
pub(super) fn value(rng: &mut ChaCha8Rng) -> Json {
    match rng.random_range(0..12) {
        0 => Json::Null,
        1 => json!(rng.random_bool(0.5)),
        2 => json!(rng.random_range(-3..100)),
        3 => json!([i64::MAX, i64::MIN, 1 << 53, -1, 4_294_967_296].choose(rng)),
        4 => json!(u64::MAX),
        5 => json!([1e308, -1e308, 0.1, 5e-324, 1e18, 12.345_678_9].choose(rng)),
        6 => json!([value(rng), value(rng)]),
        7 => json!({"a": value(rng)}),
        8 => json!({}),
        9 => json!(HOLE),
        _ => json!(TEXTS.choose(rng)),
    }
}

/// Changes one member or item of a value: its value, its name, or its presence.
pub(super) fn mutate(rng: &mut ChaCha8Rng, json: &mut Json) {
    let inner = match json {
        Json::Object(members) if !members.is_empty() && rng.random_bool(0.9) => {
            let name = members.keys().nth(rng.random_range(0..members.len())).cloned().unwrap_or_default();
            match rng.random_range(0..8) {
                0 => return drop(members.remove(&name)),
                1 => return drop(members.insert((*TEXTS.choose(rng).unwrap()).to_owned(), value(rng))),
                _ => members.get_mut(&name),
            }
        }
        Json::Array(items) if !items.is_empty() && rng.random_bool(0.9) => {
            let at = rng.random_range(0..items.len());
            if rng.random_bool(0.2) {
                let item = items[at].clone();
                items.extend(std::iter::repeat_n(item, 3));
            }
            items.get_mut(at)
        }
        _ => None,
    };
    match inner {
        Some(inner) => mutate(rng, inner),
        None => *json = value(rng),
    }
}

/// Returns the bytes of a value, with raw text in place of its marks.
pub(super) fn bytes(rng: &mut ChaCha8Rng, json: &Json) -> Vec<u8> {
    let hole = json!(HOLE).to_string();
    let text = json.to_string();
    let mut parts = text.split(&hole);
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.extend(raw(rng));
        bytes.extend(part.as_bytes());
    }
    bytes
}

/// Returns names and values as a query string.
pub(super) fn query(pairs: &Map<String, Json>) -> String {
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let pairs = pairs.iter().map(|(name, value)| format!("{}={}", escaped(name), escaped(&text(value))));
    pairs.collect::<Vec<_>>().join("&")
}

pub(super) fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

/// Changes the headers or framing of a request, or the bytes of its body.
pub(super) fn spoil(rng: &mut ChaCha8Rng, draft: &mut Draft) {
    let some = |rng: &mut ChaCha8Rng, length: usize| rng.random_range(0..=length);
    match rng.random_range(0..20) {
        0 | 1 => {
            let odd =
                ["GET", "HEAD", "PATCH", "OPTIONS", "TRACE", "get", "BREW", "DELETE", "G\u{e9}T", "", "A B"];
            draft.method = (*odd.choose(rng).unwrap()).to_owned();
        }
        2..6 => {
            let odd = [
                "%",
                "%zz",
                "%00",
                "%2F",
                "%c3%28",
                "..",
                "//",
                ";a=b",
                "?a=%ff",
                "?=&&=",
                "#x",
                "%25",
                "+",
                "\u{e9}",
                "\t",
                "?limit=-1",
                "?offset=99999999999999999999",
            ];
            let at = some(rng, draft.path.len().saturating_sub(1)) + 1;
            let at = (at..)
                .find(|at| *at >= draft.path.len() || draft.path.is_char_boundary(*at))
                .unwrap_or(0)
                .min(draft.path.len());
            draft.path.insert_str(at, odd.choose(rng).unwrap());
        }
        6 => draft.path.push_str(&"a".repeat(some(rng, 100_000))),
        7 | 8 => draft.framing = Framing::Chunks(1 + some(rng, 700)),
        9 => draft.framing = *[Framing::BadChunks, Framing::Cut, Framing::BadLength].choose(rng).unwrap(),
        10 => draft.body.truncate(rng.random_range(0..=draft.body.len())),
        11 if !draft.body.is_empty() => {
            let at = rng.random_range(0..draft.body.len());
            draft.body[at] ^= 1 << rng.random_range(0..8);
        }
        12 if !draft.headers.is_empty() => {
            let again = draft.headers.choose(rng).cloned().unwrap_or_default();
            draft.headers.extend(vec![again; 1 + some(rng, 3)]);
        }
        13 => draft.headers.extend((0..some(rng, 150)).map(|n| (format!("x-{n}"), vec![b'a'; 20]))),
        14 if rng.random_bool(0.1) => draft.body = vec![b' '; 3 << 20],
        _ => {
            let odd: [(&str, &[u8]); 18] = [
                ("content-type", b"text/plain"),
                ("content-type", b"multipart/form-data; boundary=x"),
                ("content-type", b"application/json; charset=\xff"),
                ("content-type", b"application/x-www-form-urlencoded"),
                ("accept", b"text/html;q=x"),
                ("accept", b"application/yaml"),
                ("accept", b""),
                ("expect", b"100-continue"),
                ("content-encoding", b"gzip"),
                ("diorama-token", b"wrong"),
                ("diorama-token", b"\xff"),
                ("authorization", b"Bearer"),
                ("authorization", b"Basic !!!"),
                ("origin", b"http://evil.example"),
                ("if-none-match", b"*, \"x"),
                ("x-request-id", b"\xc3\x28"),
                ("range", b"bytes=5-1"),
                ("host", b"\xff:x"),
            ];
            let (name, value) = odd.choose(rng).unwrap();
            draft.headers.retain(|(has, _)| has != name || rng.random_bool(0.2));
            draft.headers.push(((*name).to_owned(), value.to_vec()));
        }
    }
}
