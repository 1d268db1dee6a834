//! Pages: select the part of a list that a reply shows, and build the paging members.

use std::collections::HashMap;

use diorama_seeds::model::{Page, PageStyle, PagingMember, ParameterId, Query};
use diorama_seeds::value::Value;
use serde_json::Value as Json;

use super::refusal::{Outcome, Refusal};
use super::reply::Body;
use super::run::Run;

/// Reply names of the total number of items.
pub const TOTALS: [&str; 9] = [
    "total",
    "totalcount",
    "totalitems",
    "totalresults",
    "totalrecords",
    "totalentries",
    "totalelements",
    "count",
    "resultcount",
];
/// Reply names of the values that request the next page. `PREVIOUS` has those for the previous page.
const NEXTS: [&str; 8] =
    ["nextcursor", "nextmarker", "nextpagetoken", "nexttoken", "nextpage", "nextoffset", "cursor", "after"];
const PREVIOUS: [&str; 9] = [
    "previous",
    "prev",
    "previouspageurl",
    "prevurl",
    "previouscursor",
    "prevcursor",
    "prevmarker",
    "previouspage",
    "prevpage",
];

/// The host in page addresses while the world's real address is unknown.
pub const HOST: &str = "https://example.com";

/// Maximum number of list items in one reply.
pub(super) const MAX_ITEMS: usize = 1_000;

/// The part of a list that a reply shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    style: Option<PageStyle>,
    offset: usize,
    size: usize,
    /// The requested page number, even if it is after the last page.
    number: i64,
    /// The number of the first page.
    first: i64,
    /// The number of the first item, if callers number items.
    origin: i64,
    /// True if the cursor is the key of the record before the part, as documents with contracts use it.
    pub(super) by_key: bool,
}

impl Window {
    /// Reads the paging arguments of a query.
    pub(super) fn new(run: &Run<'_>, query: &Query) -> Outcome<Self> {
        let Some(page) = &query.page else { return Ok(Self::whole()) };
        let size = match page.limit.map(|parameter| (parameter, run.argument(parameter))) {
            Some((_, Value::Integer(limit))) if (1..=MAX_ITEMS as i64).contains(limit) => *limit as usize,
            Some((parameter, value)) if !value.is_missing() => {
                return Err(refused(run, parameter, value, "a page size from 1 to 1000"));
            }
            _ => (page.size as usize).clamp(1, MAX_ITEMS),
        };
        let argument = run.argument(page.parameter);
        let own = matches!(argument, Value::String(text) if read_cursor(&run.api.name, text).is_some());
        let by_key =
            page.style == PageStyle::Cursor && run.api.contract.is_some() && !argument.is_missing() && !own;
        let offset = if by_key {
            0
        } else {
            numbered(run, page, size)?.map_or_else(|| offset(run, page, size), Ok)?
        };
        let (first, origin) = match page.style {
            PageStyle::Page => (i64::from(page.first), 0),
            PageStyle::Offset => (1, i64::from(page.first)),
            PageStyle::Cursor => (1, 0),
        };
        let number = match (page.style, argument) {
            (PageStyle::Page, Value::Integer(number)) => *number,
            _ => i64::try_from(offset / size).unwrap_or(i64::MAX).saturating_add(first),
        };
        Ok(Self { style: Some(page.style), offset, size, number, first, origin, by_key })
    }

    /// Returns a window with the whole list, up to [`MAX_ITEMS`].
    pub(super) const fn whole() -> Self {
        Self { style: None, offset: 0, size: MAX_ITEMS, number: 1, first: 1, origin: 0, by_key: false }
    }

    /// Returns the first position after the part.
    pub(super) const fn end(&self) -> usize {
        self.offset.saturating_add(self.size)
    }

    /// Starts the part after the record at a position.
    pub(super) const fn begin_after(&mut self, place: usize) {
        self.offset = place + 1;
    }

    /// Returns the value that requests the next page: a number, an offset or a cursor. Null after the last
    /// page.
    pub(super) fn next(&self, api: &str, total: usize) -> Value {
        match self.style {
            _ if self.end() >= total => Value::Null,
            Some(PageStyle::Cursor) => Value::String(cursor(api, self.end()).into()),
            Some(PageStyle::Page) => Value::Integer(self.number.saturating_add(1)),
            Some(PageStyle::Offset) | None => Value::Integer(self.position(self.end())),
        }
    }

    /// Returns the callers' number of the item at a position.
    fn position(&self, at: usize) -> i64 {
        i64::try_from(at).unwrap_or(i64::MAX).saturating_add(self.origin)
    }

    /// Returns the page members of contract replies by plain name. `next` requests the next page, and
    /// `address` is its address.
    pub(super) fn told(
        &self,
        total: usize,
        keys: &[Json],
        next: Json,
        address: Option<&str>,
    ) -> HashMap<String, Json> {
        let more = self.end() < total;
        let address = address.map_or(Json::Null, |address| Json::from(format!("{HOST}{address}")));
        let places = total.div_ceil(self.size.max(1));
        let last = i64::try_from(places).unwrap_or(i64::MAX).saturating_add(self.first).saturating_sub(1);
        let said: [(&[&str], Json); 13] = [
            (&TOTALS, Json::from(total)),
            (&["page", "pagenumber", "currentpage", "pageindex"], Json::from(self.number)),
            (&["pages", "totalpages", "pagecount", "numpages", "maxpage"], Json::from(places)),
            (&["lastpage"], Json::from(last)),
            (&["offset", "skip", "start", "startindex"], Json::from(self.position(self.offset))),
            (&["limit", "perpage", "pagesize", "size", "maxresults"], Json::from(self.size)),
            (&["hasmore", "hasnext", "more", "hasnextpage"], Json::Bool(more)),
            (&["firstid"], keys.first().cloned().unwrap_or(Json::Null)),
            (&["lastid"], keys.last().cloned().unwrap_or(Json::Null)),
            (
                &[
                    "nextpageurl",
                    "nexturl",
                    "nextpageuri",
                    "nexturi",
                    "nextlink",
                    "nexthref",
                    "odatanextlink",
                ],
                address.clone(),
            ),
            (&["next"], if self.style == Some(PageStyle::Cursor) { next.clone() } else { address }),
            (&NEXTS, next),
            (&PREVIOUS, Json::Null),
        ];
        let pairs = said.iter().flat_map(|(names, value)| names.iter().map(move |name| (*name, value)));
        pairs.map(|(name, value)| (name.to_owned(), value.clone())).collect()
    }

    /// Returns the items of the part.
    pub(super) fn of<'a, T>(&self, all: &'a [T]) -> &'a [T] {
        let start = self.offset.min(all.len());
        &all[start..self.end().min(all.len())]
    }

    /// Returns the value of a paging member. `total` is the number of items in the list.
    pub(super) fn member(&self, member: PagingMember, api: &str, total: usize) -> Body {
        match member {
            PagingMember::Page => Body::constant(Value::Integer(self.number)),
            PagingMember::Offset => Body::constant(Value::Integer(self.position(self.offset))),
            PagingMember::Limit => Body::constant(integer(self.size)),
            PagingMember::Pages => Body::computed(integer(total.div_ceil(self.size))),
            PagingMember::Next => Body::computed(self.next(api, total)),
        }
    }
}

fn integer(count: usize) -> Value {
    Value::Integer(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Returns the offset that a page number gives in place of a cursor. Returns none if there is no number, or a
/// cursor beside it.
fn numbered(run: &Run<'_>, page: &Page, size: usize) -> Outcome<Option<usize>> {
    let Some(parameter) = page.number.filter(|_| run.argument(page.parameter).is_missing()) else {
        return Ok(None);
    };
    match run.argument(parameter) {
        // Some services call the first page 0, others 1.
        Value::Integer(number) if *number >= 0 => {
            Ok(Some(usize::try_from((number - 1).max(0)).unwrap_or(usize::MAX).saturating_mul(size)))
        }
        value if value.is_missing() => Ok(None),
        value => Err(refused(run, parameter, value, "a page number of at least 0")),
    }
}

fn offset(run: &Run<'_>, page: &Page, size: usize) -> Outcome<usize> {
    let value = run.argument(page.parameter);
    if value.is_missing() {
        return Ok(0);
    }
    let bad = |expected: &str| Err(refused(run, page.parameter, value, expected));
    match (page.style, value) {
        (PageStyle::Page, Value::Integer(number)) if *number >= i64::from(page.first) => {
            Ok(usize::try_from(number - i64::from(page.first)).unwrap_or(usize::MAX).saturating_mul(size))
        }
        (PageStyle::Page, _) => bad(&format!("a page number of at least {}", page.first)),
        (PageStyle::Offset, Value::Integer(offset)) if *offset >= 0 => {
            Ok(usize::try_from(offset.saturating_sub(page.first.into())).unwrap_or_default())
        }
        (PageStyle::Offset, _) => bad("an offset of at least 0"),
        (PageStyle::Cursor, Value::String(text)) => match read_cursor(&run.api.name, text) {
            Some(offset) => Ok(offset),
            None => bad("a cursor from an earlier reply of this API"),
        },
        (PageStyle::Cursor, _) => bad("a cursor from an earlier reply of this API"),
    }
}

fn refused(run: &Run<'_>, parameter: ParameterId, value: &Value, expected: &str) -> Refusal {
    let name = run.parameter_name(parameter);
    let shown = name.map_or("page", |name| &**name);
    let found: String = value.to_text(run.zone()).chars().take(60).collect();
    Refusal::new(400, format!("`{shown}`: expected {expected}, found {found}"))
        .about(name)
        .expecting(expected)
}

/// Returns a cursor: the offset with a checksum bound to the API, so that invented cursors are refused.
fn cursor(api: &str, offset: usize) -> String {
    let offset = offset as u64;
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"diorama cursor/1");
    hasher.update(&offset.to_le_bytes());
    hasher.update(api.as_bytes());
    let check = hasher.finalize().to_hex();
    format!("{}{offset:x}", &check[..8])
}

fn read_cursor(api: &str, text: &str) -> Option<usize> {
    let offset = u64::from_str_radix(text.get(8..)?, 16).ok()?;
    let offset = usize::try_from(offset).ok()?;
    (cursor(api, offset) == text).then_some(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_only_by_the_api_that_wrote_it() {
        for offset in [0, 1, 20, usize::MAX] {
            assert_eq!(read_cursor("ListRooms", &cursor("ListRooms", offset)), Some(offset));
        }
        for text in ["", "20", "0000000014", "ääää€€€€14", "+0000000+14", &cursor("ListHotels", 20)]
        {
            assert_eq!(read_cursor("ListRooms", text), None, "{text}");
        }
    }
}
