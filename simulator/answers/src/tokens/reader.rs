//! Reading a text into tokens: markup, lines, cells, sentences.

use unicode_normalization::char::is_combining_mark;

use super::fold::Fold;
use super::lines::{bullet, is_rule, numbered};
use super::{Kind, LineKind, MAX_BYTES, Marks, Text, Token};
use crate::lexicon::{self, HASH_START, Roles, hash_byte};
use crate::units::Currency;
use crate::{word, words};

pub(crate) struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    out: Text,
    line: u32,
    cell: u16,
    sentence: u32,
    glued: bool,
    first: bool,
    bold: bool,
    quoted: bool,
    code: bool,
    struck: bool,
    row: bool,
    /// The text is a value, not an answer: no thinking, bullets or numbers of lists.
    pub(crate) value: bool,
    link_until: usize,
    /// Byte of a `$` that closes LaTeX on this line.
    closing_dollar: Option<usize>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut end = text.len().min(MAX_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = &text[..end];
        let mut out = Text::default();
        out.tokens.reserve(text.len() / 4);
        out.lines.push(LineKind::Plain);
        out.questions.push(false);
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            out,
            line: 0,
            cell: 0,
            sentence: 0,
            glued: false,
            first: true,
            bold: false,
            quoted: false,
            code: false,
            struck: false,
            row: false,
            value: false,
            link_until: 0,
            closing_dollar: None,
        }
    }

    pub(crate) fn run(mut self) -> Text {
        if !self.value {
            self.skip_thinking();
            self.start_line();
        }
        while self.at < self.bytes.len() {
            let byte = self.bytes[self.at];
            match byte {
                b'\n' => self.end_line(),
                b' ' | b'\t' | b'\r' => self.skip(1),
                b'0'..=b'9' => self.digits(),
                b'a'..=b'z' | b'A'..=b'Z' => self.word(),
                b'*' => self.stars(),
                b'`' => {
                    self.code = !self.code;
                    self.at += 1;
                }
                b'_' => self.at += 1,
                b'~' => self.tilde(),
                b'\\' => self.backslash(),
                b'$' => self.dollar(),
                b'"' => {
                    self.quoted = !self.quoted;
                    self.at += 1;
                }
                b'\'' => self.at += 1,
                b'|' => self.bar(),
                b'&' => self.ampersand(),
                b'[' => self.citation(),
                b'{' if self.bytes[self.at..].starts_with(b"{,}") => {
                    self.symbol(',', 3);
                }
                b']' => self.link(),
                b'<' => self.tag(),
                b'.' | b'!' | b'?' | b';' => self.stop(byte),
                0..=0x7f => self.symbol(char::from(byte), 1),
                _ => self.other(),
            }
        }
        self.out
    }

    /// Leaves out what a model thought aloud before its answer.
    fn skip_thinking(&mut self) {
        // What an agent of the ReAct kind says to the user stands behind this.
        if let Some(at) = self.text.rfind("Final Answer:") {
            self.at = at + "Final Answer:".len();
            return;
        }
        let head = self.text.trim_start();
        if head.starts_with("<think")
            && let Some(end) = self.text.find("</think")
        {
            self.at = self.text[end..].find('>').map_or(self.text.len(), |close| end + close + 1);
        }
    }

    fn skip(&mut self, bytes: usize) {
        self.at += bytes;
        self.glued = false;
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn previous(&self) -> u8 {
        self.at.checked_sub(1).and_then(|before| self.bytes.get(before)).copied().unwrap_or(b' ')
    }

    fn push(&mut self, token: Token) {
        let mut token = token;
        if self.first {
            token.marks |= Marks::FIRST;
            self.first = matches!(token.kind, Kind::Symbol(_));
        }
        self.glued = true;
        self.out.tokens.push(token);
    }

    fn token(&self, end: usize, kind: Kind) -> Token {
        let mut marks = if self.glued { Marks::GLUED } else { 0 };
        if self.bold || self.quoted || self.code {
            marks |= Marks::EMPHASISED;
        }
        if self.struck {
            marks |= Marks::STRUCK;
        }
        if self.at < self.link_until {
            marks |= Marks::LINK;
        }
        Token {
            start: self.at as u32,
            end: end as u32,
            kind,
            hash: 0,
            stem: 0,
            value: 0,
            lex: 0,
            line: self.line,
            cell: self.cell,
            sentence: self.sentence,
            marks,
        }
    }

    fn symbol(&mut self, symbol: char, bytes: usize) {
        let token = self.token(self.at + bytes, Kind::Symbol(symbol));
        self.push(token);
        self.at += bytes;
    }

    fn end_sentence(&mut self) {
        self.first = true;
        // A sentence without a token yet is used again.
        if self.out.tokens.last().is_some_and(|token| token.sentence == self.sentence) {
            self.sentence += 1;
            self.out.questions.push(false);
        }
    }

    fn end_line(&mut self) {
        self.skip(1);
        self.end_sentence();
        self.line += 1;
        self.cell = 0;
        self.row = false;
        self.bold = false;
        self.quoted = false;
        self.struck = false;
        self.code = false;
        self.closing_dollar = None;
        self.out.lines.push(LineKind::Plain);
        self.start_line();
    }

    /// Takes off what marks a heading, a quotation, a bullet, a number of a list or a table row.
    fn start_line(&mut self) {
        let rest = &self.text[self.at..];
        let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
        let mut body = line.trim_start();
        let mut kind = LineKind::Plain;
        while let Some(quoted) = body.strip_prefix('>') {
            body = quoted.trim_start();
        }
        if body.starts_with("```") || body.starts_with("~~~") || is_rule(body) {
            self.at += line.len();
            return;
        }
        if body.starts_with('#') {
            let heading = body.trim_start_matches('#');
            if heading.starts_with(' ') {
                kind = LineKind::Heading;
                body = heading;
            }
        } else if let Some(item) = bullet(body).or_else(|| self.numbered(body)) {
            kind = LineKind::Item;
            body = item;
            for check in ["[ ] ", "[x] ", "[X] "] {
                body = body.strip_prefix(check).unwrap_or(body);
            }
        } else if body.starts_with('|') {
            kind = LineKind::Row;
            self.row = true;
            body = &body[1..];
        } else if body.matches(" | ").count() >= 1 || body.matches('\t').count() >= 1 {
            kind = LineKind::Row;
            self.row = true;
        }
        if let Some(last) = self.out.lines.last_mut() {
            *last = kind;
        }
        self.at += line.len() - body.len();
        self.glued = false;
    }

    /// What stands behind a list's number: one alone that is not the first answers, such as `7. The fastest is ...`.
    fn numbered<'b>(&self, body: &'b str) -> Option<&'b str> {
        let rest = numbered(body)?;
        let alone = || self.text.lines().filter(|line| numbered(line.trim_start()).is_some()).count() < 2;
        (body.starts_with(['1', '(', '*']) || !alone()).then_some(rest)
    }

    fn digits(&mut self) {
        let mut end = self.at;
        let mut hash = HASH_START;
        let mut value = 0_u64;
        while let Some(byte) = self.bytes.get(end).filter(|byte| byte.is_ascii_digit()) {
            hash = hash_byte(hash, *byte);
            value = value.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
            end += 1;
        }
        let keycap = self.text[end..].strip_prefix('\u{fe0f}').unwrap_or(&self.text[end..]);
        if keycap.starts_with('\u{20e3}') {
            self.at = self.text.len() - keycap.len() + '\u{20e3}'.len_utf8();
            self.glued = false;
            if let Some(line) = self.out.lines.last_mut().filter(|line| **line == LineKind::Plain) {
                *line = LineKind::Item;
            }
            return;
        }
        let mut token = self.token(end, Kind::Digits);
        token.hash = hash;
        token.stem = hash;
        token.value = value;
        self.push(token);
        self.at = end;
    }

    /// `[1]` behind a word refers to a source.
    fn citation(&mut self) {
        let digits = self.bytes[self.at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let behind = self.previous().is_ascii_alphanumeric()
            || matches!(self.previous(), b'.' | b',' | b')' | b']' | b'*');
        if (1..=2).contains(&digits) && self.peek(digits + 1) == b']' && behind {
            self.at += digits + 2;
        } else {
            self.at += 1;
        }
    }

    fn word(&mut self) {
        let mut fold = Fold::default();
        let mut end = self.at;
        let mut upper = true;
        let mut possessive = false;
        let capital = self.text[self.at..].chars().next().is_some_and(char::is_uppercase);
        let mut letters = 0;
        while let Some(byte) = self.bytes.get(end).copied() {
            if byte.is_ascii_alphabetic() {
                upper &= byte.is_ascii_uppercase();
                fold.push(byte.to_ascii_lowercase());
                end += 1;
                letters += 1;
                continue;
            }
            if byte < 0x80 && byte != b'\'' {
                break;
            }
            let Some(c) = self.text[end..].chars().next() else { break };
            if matches!(c, '\'' | '’' | 'ʼ') {
                let rest = &self.text[end + c.len_utf8()..];
                let next = rest.chars().next();
                let after = next.and_then(|next| rest[next.len_utf8()..].chars().next());
                // The possessive, or `is` in short: not part of the word.
                if matches!(next, Some('s' | 'S')) && !after.is_some_and(char::is_alphanumeric) {
                    possessive = true;
                    break;
                }
                if !next.is_some_and(char::is_alphabetic) {
                    break;
                }
                end += c.len_utf8();
                continue;
            }
            if is_ideograph(c) {
                if letters == 0 {
                    fold.char(c);
                    end += c.len_utf8();
                }
                break;
            }
            if !c.is_alphabetic() && !is_combining_mark(c) {
                break;
            }
            upper &= c.is_uppercase();
            fold.char(c);
            letters += 1;
            end += c.len_utf8();
        }
        if end == self.at {
            // Not a letter after all; the caller saw one, so this cannot loop.
            self.skip(self.text[self.at..].chars().next().map_or(1, char::len_utf8));
            return;
        }
        if self.text[end..].starts_with("://") {
            let address = &self.text[self.at..];
            let stops = |c: char| c.is_whitespace() || matches!(c, ')' | '>' | '"' | ']' | '|');
            self.link_until = self.at + address.find(stops).unwrap_or(address.len());
        }
        let mut token = self.token(end, Kind::Word);
        token.hash = lexicon::canonical(fold.hash());
        token.stem = lexicon::canonical(fold.stem());
        token.lex = lexicon::find(fold.hash());
        if capital {
            token.marks |= Marks::CAPITAL;
        }
        if upper && letters > 1 {
            token.marks |= Marks::UPPER;
        }
        self.push(token);
        self.at = end;
        if possessive {
            let mark = self.text[end..].chars().next().map_or(1, char::len_utf8);
            self.at = end + mark + 1;
        }
    }

    fn stars(&mut self) {
        let run = self.bytes[self.at..].iter().take_while(|byte| **byte == b'*').count();
        let spaced = self.previous() == b' ' && matches!(self.peek(run), b' ' | 0);
        if !spaced {
            self.bold = !self.bold;
        }
        self.at += run;
    }

    fn tilde(&mut self) {
        if self.peek(1) == b'~' {
            self.struck = !self.struck;
            self.at += 2;
        } else {
            self.symbol('~', 1);
        }
    }

    fn backslash(&mut self) {
        let next = self.peek(1);
        match next {
            b'(' | b')' | b'[' | b']' => self.skip(2),
            b',' | b';' | b':' | b'!' | b' ' | b'\\' => self.skip(2),
            b'"' | b'\'' => self.at += 2,
            b'$' => {
                self.at += 1;
                self.symbol('$', 1);
            }
            b'%' | b'&' | b'#' => {
                self.at += 1;
                if next == b'&' {
                    self.ampersand();
                } else {
                    self.symbol(char::from(next), 1);
                }
            }
            b'n' if !self.peek(2).is_ascii_lowercase() => self.skip(2),
            b'u' => match self
                .text
                .get(self.at + 2..self.at + 6)
                .and_then(|hex| u32::from_str_radix(hex, 16).ok())
            {
                // An escape of JSON; only currency signs and the like matter.
                Some(code) => {
                    let symbol = char::from_u32(code).filter(|c| !c.is_alphanumeric()).unwrap_or(' ');
                    self.symbol(symbol, 6);
                }
                None => self.skip(1),
            },
            b'a'..=b'z' | b'A'..=b'Z' => {
                let name =
                    self.bytes[self.at + 1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
                let command = &self.text[self.at + 1..self.at + 1 + name];
                let glued = self.glued;
                match command {
                    "approx" | "sim" | "simeq" => self.symbol('~', name + 1),
                    "euro" | "texteuro" => self.symbol('€', name + 1),
                    "pounds" => self.symbol('£', name + 1),
                    "circ" | "degree" => self.symbol('°', name + 1),
                    _ => self.at += name + 1,
                }
                self.glued = glued;
            }
            _ => self.at += 1,
        }
    }

    /// `$` opens and closes LaTeX when it stands on both sides of something without blanks at its inner ends and
    /// no digit follows the second; else it is a dollar sign.
    fn dollar(&mut self) {
        if self.closing_dollar == Some(self.at) {
            self.closing_dollar = None;
            self.at += 1;
            return;
        }
        let rest = &self.bytes[self.at + 1..];
        let line = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let close = rest[..line].iter().position(|byte| *byte == b'$');
        if let Some(close) = close {
            let inner = &rest[..close];
            let glued = close > 0 && inner[0] != b' ' && inner[close - 1] != b' ';
            let words = inner.windows(3).any(|three| three.iter().all(u8::is_ascii_alphabetic))
                && !inner.contains(&b'\\');
            let next = rest.get(close + 1).copied().unwrap_or(b' ');
            if glued
                && !words
                && !next.is_ascii_alphanumeric()
                && !inner.ends_with(b"/")
                && !inner.ends_with(b"-")
            {
                self.closing_dollar = Some(self.at + 1 + close);
                self.at += 1;
                return;
            }
        }
        self.symbol('$', 1);
    }

    fn bar(&mut self) {
        if self.row {
            self.cell = self.cell.saturating_add(1);
            self.end_sentence();
            self.bold = false;
            self.skip(1);
        } else {
            self.symbol('|', 1);
        }
    }

    /// After the text of a link comes its address.
    fn link(&mut self) {
        self.at += 1;
        if self.peek(0) == b'('
            && let Some(close) = self.text[self.at..].find([')', '\n'])
            && !self.text[self.at..self.at + close].contains(' ')
        {
            self.at += close + usize::from(self.bytes[self.at + close] == b')');
        }
    }

    fn tag(&mut self) {
        let rest = &self.bytes[self.at + 1..];
        let close = rest.iter().take(40).position(|byte| *byte == b'>');
        let named = rest.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'/');
        match close {
            Some(close) if named => {
                let line_break = rest[..close].starts_with(b"br") || rest[..close].starts_with(b"/li");
                self.at += close + 2;
                if line_break {
                    self.glued = false;
                    self.end_sentence();
                }
            }
            _ => self.symbol('<', 1),
        }
    }

    /// A stop ends a sentence before white space, unless it belongs to an abbreviation.
    fn stop(&mut self, byte: u8) {
        let rest = self.text[self.at + 1..]
            .trim_start_matches(['*', '_', '"', '\'', '”', ')', '’', '`', '.', '!', '?']);
        let gap = rest.is_empty() || rest.starts_with(char::is_whitespace) || rest.starts_with('<');
        let upper = rest.trim_start().starts_with(|c: char| c.is_uppercase());
        let abbreviated = byte == b'.'
            && self.out.tokens.last().is_some_and(|last| {
                last.sentence == self.sentence && last.is_word() && {
                    let honorific = last.is(Roles::HONORIFIC) || words!("st vs").contains(&last.hash);
                    let number = last.hash == word!("no")
                        && rest.trim_start().starts_with(|c: char| c.is_ascii_digit());
                    let short = last.is(Roles::ABBREVIATION) && last.hash != word!("no") && !upper;
                    // A letter behind a sign or a number is a unit: `23 °C. Is there`, `900 W. Is there`.
                    let before = self.text[..last.start as usize].trim_end_matches(' ').chars().next_back();
                    let unit =
                        last.has(Marks::CAPITAL) && before.is_some_and(|c| c.is_ascii_digit() || c == '°');
                    let initial = last.len() == 1 && !unit && (last.has(Marks::CAPITAL) || !upper);
                    honorific || number || short || initial
                }
            });
        if byte == b'?'
            && let Some(question) = self.out.questions.get_mut(self.sentence as usize)
        {
            *question = true;
        }
        self.symbol(char::from(byte), 1);
        if gap && !abbreviated {
            self.end_sentence();
        }
    }

    fn ampersand(&mut self) {
        let mut token = self.token(self.at + 1, Kind::Word);
        token.hash = word!("and");
        token.stem = token.hash;
        token.lex = lexicon::find(token.hash);
        self.push(token);
        self.at += 1;
    }

    fn other(&mut self) {
        let Some(c) = self.text[self.at..].chars().next() else {
            self.at = self.bytes.len();
            return;
        };
        let bytes = c.len_utf8();
        match c {
            '“' | '«' | '„' => {
                self.quoted = true;
                self.at += bytes;
            }
            '”' | '»' => {
                self.quoted = false;
                self.at += bytes;
            }
            '‘' | '’' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}' => self.at += bytes,
            // Narrow blanks group digits; they are kept apart from common blanks.
            '\u{a0}' | '\u{202f}' | '\u{2009}' => {
                let grouped = self.previous().is_ascii_digit() && self.peek(bytes).is_ascii_digit();
                if grouped { self.symbol('\u{a0}', bytes) } else { self.skip(bytes) }
            }
            '？' => {
                if let Some(question) = self.out.questions.get_mut(self.sentence as usize) {
                    *question = true;
                }
                self.symbol('?', bytes);
                self.end_sentence();
            }
            '。' | '！' => {
                self.symbol('.', bytes);
                self.end_sentence();
            }
            '•' | '·' | '▪' => {
                self.symbol('•', bytes);
            }
            '−' | '‐' | '‑' => self.symbol('-', bytes),
            c if c.is_whitespace() => self.skip(bytes),
            c if c.is_alphabetic() => self.word(),
            '–' | '—' | '½' | '¼' | '¾' | '°' | '²' | '×' | '≈' | '≥' | '≤' | '→' | '…' | '✓' | '✔'
            | '✅' | '✗' | '✘' | '❌' | '✖' | '☑' | '☐' => self.symbol(c, bytes),
            c if Currency::sign(c).is_some() => self.symbol(c, bytes),
            // Emoji and ornaments.
            _ => self.skip(bytes),
        }
    }
}

pub(crate) fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

#[cfg(test)]
mod tests {
    use super::super::Text;

    #[test]
    fn a_unit_ends_a_sentence_and_an_initial_does_not() {
        let questions = |text: &str| Text::read(text).questions.iter().filter(|asks| **asks).count();
        let sentences = |text: &str| Text::read(text).tokens.last().map_or(0, |token| token.sentence);
        for text in ["It's 23.5 °C. Is there anything else?", "It draws 40 W. Shall I turn it off?"] {
            assert_eq!((questions(text), sentences(text)), (1, 1), "{text}");
        }
        assert_eq!((questions("Is it J. Smith?"), sentences("Is it J. Smith?")), (1, 0));
    }
}
