//! Puts phrases of APIs and questions for fields into the sentences of scenarios that are written by rule.

use diorama_seeds::english::{article, capitalised, lowered};
use diorama_seeds::model::{Api, ApiId, BehaviourKind, Field, FieldId, ParameterId, Resource, ResourceId};
use diorama_seeds::naming::is_identifier;
use diorama_seeds::schema::{Schema, Type, refers_to};

use super::sketch::{Sketch, member};
use super::spoken::{Hands, SPOKEN, both_hands};
use crate::scenarios::render::with_unit;
use crate::scenarios::speech::fill;
use crate::worlds::text::{Part, Segment, Template, assemble};

/// The greatest number of openings of a goal.
const MAX_OPENINGS: usize = 12;

/// The greatest number of wordings of the assistant's last message after a change.
const MAX_DONE: usize = 6;

/// The values that a phrase must contain.
#[derive(Clone, Copy)]
enum RequiredValues<'t> {
    /// All given values.
    All,
    /// Any part of them, and paths in the reply of this name.
    Part(&'t str),
}

/// Returns up to `each` wordings of each hand.
fn both(careful: Vec<String>, hasty: Vec<String>, each: usize) -> Vec<String> {
    careful.into_iter().take(each).chain(hasty.into_iter().take(each)).collect()
}

/// Puts clauses into frames in turn, so that each clause gets different frames.
fn frame(clauses: &[String], frames: &[String], turn: usize) -> Vec<String> {
    let whole = |number: usize| {
        let (words, clause) = (&frames[(turn + number) % frames.len()], &clauses[number % clauses.len()]);
        // A clause that ends a sentence needs no other end.
        let is_ended = clause.ends_with(['.', '?', '!', '"']);
        let words =
            words.strip_suffix('.').filter(|words| is_ended && words.ends_with("{x}")).unwrap_or(words);
        fill(words, &[("x", clause)])
    };
    if clauses.is_empty() { Vec::new() } else { (0..frames.len()).map(whole).collect() }
}

/// Returns openings that request an action: in frames, or as whole requests.
pub(crate) fn openings(frames: &Hands, clauses: &[String], requests: &[String], turn: usize) -> Vec<String> {
    let mut careful: Vec<String> = requests.iter().map(|request| sentence(request)).collect();
    careful.truncate(MAX_OPENINGS / 4);
    careful.extend(frame(clauses, &frames[0], turn));
    let mut hasty: Vec<String> = requests.iter().map(|request| hastily(request)).collect();
    hasty.truncate(MAX_OPENINGS / 4);
    hasty.extend(frame(clauses, &frames[1], turn));
    both(careful, hasty, MAX_OPENINGS / 2)
}

/// Returns the same openings after another goal.
pub(crate) fn later(clauses: &[String], requests: &[String], turn: usize) -> Vec<String> {
    let [careful, hasty] = &SPOKEN.later;
    let also = requests.iter().map(|request| format!("Also: {}", lowered(request)));
    let too = requests.iter().map(|request| format!("and {}", hastily(request)));
    let careful = frame(clauses, careful, turn).into_iter().chain(also.map(|words| sentence(&words)));
    both(careful.collect(), frame(clauses, hasty, turn).into_iter().chain(too).collect(), 2)
}

/// Returns questions after another goal. Questions of several sentences are left out.
pub(crate) fn further(questions: &[String]) -> Vec<String> {
    let (careful, hasty): (Vec<&String>, Vec<&String>) =
        questions.iter().partition(|question| question.starts_with(char::is_uppercase));
    let careful = careful.into_iter().filter(|question| !question.contains(". "));
    let careful = careful.enumerate().map(|(number, question)| match question.ends_with('?') {
        true => format!("{}{question}", ["Another question. ", "I have one more question. "][number % 2]),
        false => format!("{}{}", ["Next, ", "After that, "][number % 2], lowered(question)),
    });
    let is_plain = |question: &&String| {
        !SPOKEN.is_reasoned(question) && [". ", ": "].iter().all(|stop| !question.contains(stop))
    };
    let hasty = hasty.into_iter().filter(is_plain).enumerate();
    let hasty =
        hasty.map(|(number, question)| format!("{}{question}", ["and ", "another thing, "][number % 2]));
    both(careful.collect(), hasty.collect(), 2)
}

/// Returns a sentence: with a capital at its beginning and a stop at its end.
pub(crate) fn sentence(words: &str) -> String {
    let words = capitalised(words.trim());
    let words = match words
        .split_once("\")}")
        .filter(|(begin, _)| begin.starts_with('{') && begin.contains("|called("))
    {
        Some((begin, rest)) => format!("{begin}\")|capital}}{rest}"),
        None => words,
    };
    if words.ends_with(['.', '?', '!', '"']) { words } else { format!("{words}.") }
}

/// Returns words as a hasty user writes them.
fn hastily(words: &str) -> String {
    lowered(words.trim()).trim_end_matches('.').to_owned()
}

impl Sketch<'_> {
    /// Returns the clauses of an API that contain all given values, and no others.
    pub(crate) fn clauses(&self, id: ApiId) -> Vec<String> {
        self.fill_all(id, &self.writer.guide().api(id).imperative)
    }

    /// Returns the whole requests of an API that contain them.
    pub(crate) fn requests(&self, id: ApiId) -> Vec<String> {
        self.fill_all(id, &self.writer.guide().api(id).request)
    }

    /// Returns the plural noun phrases of a list that contain them.
    pub(crate) fn nouns(&self, id: ApiId) -> Vec<String> {
        self.fill_all(id, &self.writer.guide().api(id).noun)
    }

    fn fill_all(&self, id: ApiId, templates: &[Template]) -> Vec<String> {
        let api = self.world().api(id);
        let mut all = Vec::new();
        for turn in 0..2 {
            for template in templates {
                let words =
                    self.fill(api, template, turn, RequiredValues::All).filter(|words| !all.contains(words));
                all.extend(words);
            }
        }
        all
    }

    /// Fills a phrase with the words of each parameter.
    fn fill(&self, api: &Api, template: &Template, turn: usize, told: RequiredValues<'_>) -> Option<String> {
        let has_braces = |part: &Part| matches!(part, Part::Text(text) if text.contains(['{', '}']));
        if template.parts.iter().any(has_braces) {
            return None;
        }
        let mut known: Vec<ParameterId> = Vec::new();
        let mut segments = template.fill(&mut |name| {
            if let (RequiredValues::Part(reply), Some(path)) = (told, name.strip_prefix("reply:")) {
                return Some(vec![Segment::Value(format!("{{{}}}", self.place_in(reply, path)?))]);
            }
            let id = api.parameter_named(name)?;
            let (_, words) = self.said.iter().find(|(other, _)| *other == id)?;
            known.push(id);
            Some(vec![Segment::Value(words[turn % words.len()].clone())])
        })?;
        self.drop_nouns(api, &mut segments);
        quote_texts(&mut segments);
        let is_told = |(id, _): &(ParameterId, Vec<String>)| known.contains(id);
        let is_whole = matches!(told, RequiredValues::Part(_)) || self.said.iter().all(is_told);
        is_whole.then(|| assemble(&segments))
    }

    /// Turns `the booking {the_booking}` into `{the_booking|called("booking")}`, which adds the noun if the
    /// name lacks it.
    fn drop_nouns(&self, api: &Api, segments: &mut [Segment]) {
        let nouns: Vec<String> = api
            .parameters
            .iter()
            .filter_map(|parameter| refers_to(&parameter.schema.kind))
            .map(|resource| self.world().resource(resource).label.to_string())
            .collect();
        for at in 1..segments.len() {
            let (before, rest) = segments.split_at_mut(at);
            let (Some(Segment::Text(before)), Some(Segment::Value(words))) =
                (before.last_mut(), rest.first_mut())
            else {
                continue;
            };
            let Some(noun) = nouns.iter().find(|noun| before.ends_with(&format!("the {noun} "))) else {
                continue;
            };
            // A phrase such as `the latest booking` has the noun already, and a new record is `it`.
            if words.starts_with("the ") || words == "it" {
                before.truncate(before.len() - "the ".len() - noun.len() - 1);
                continue;
            }
            let Some((place, below)) = words.strip_prefix('{').and_then(|words| words.split_once('}')) else {
                continue;
            };
            if place.contains('|') {
                continue;
            }
            *words = format!("{{{place}|called(\"{noun}\")}}{below}");
            before.truncate(before.len() - "the ".len() - noun.len() - 1);
        }
    }

    /// Returns questions for a field of `it`, in both hands.
    pub(crate) fn questions(&self, resource: ResourceId, field: FieldId, it: &str) -> Vec<String> {
        let described = self.world().resource(resource);
        let asks = self.writer.guide().asks(resource, field);
        if asks.is_empty() {
            let label = &*described.field(field).label;
            return both_hands(&SPOKEN.asks, &[("label", label), ("it", it)]);
        }
        // The question's own noun is enough: `the branch {it}`.
        let told = asks.iter().map(|ask| {
            let ask = without_owner(ask, described, field);
            let noun = format!("the {} {{it}}", described.label);
            if ask.contains(&noun) { ask.replace(&noun, it) } else { ask.replace("{it}", it) }
        });
        let told: Vec<String> = told.collect();
        // A question stands alone, or after its reason.
        let reasons = SPOKEN.reasons(&described.field(field).schema.kind);
        let led = |reasons: &[String], put: fn(&str) -> String| -> Vec<String> {
            let leads = std::iter::once("").chain(reasons.iter().map(String::as_str));
            let with = |lead: &str| told.iter().map(|ask| format!("{lead}{}", put(ask))).collect::<Vec<_>>();
            leads.flat_map(with).collect()
        };
        let careful = led(&reasons[0], sentence);
        let hasty = led(&reasons[1], |ask| hastily(ask).trim_end_matches('?').to_owned());
        both(careful, hasty, MAX_OPENINGS / 2)
    }

    /// Returns sentences that state a field of `it`, whose value stands in a reply.
    pub(crate) fn statements(
        &self,
        resource: ResourceId,
        field: FieldId,
        it: &str,
        value: &str,
        bare: bool,
    ) -> Vec<String> {
        let field_doc = self.world().resource(resource).field(field);
        let says = self.writer.guide().says(resource, field);
        let it = it.strip_prefix("my ").map_or_else(|| it.to_owned(), |own| format!("your {own}"));
        // A boolean has a statement for each value.
        if let (Type::Boolean, [so, not]) = (&field_doc.schema.kind, says) {
            let either = |so: &str, not: &str| {
                format!("{{% if {value} %}}Yes, {so}{{% else %}}No, {not}{{% endif %}}")
            };
            return vec![either(&so.replace("{it}", &it), &not.replace("{it}", &it))];
        }
        let beside = value.strip_suffix(&*field_doc.name).and_then(|rest| rest.strip_suffix('.'));
        let value = tell_field(value, field_doc, bare);
        let plain = format!("The {} of {{it}} is {{value}}.", field_doc.label);
        let all = if says.is_empty() { std::slice::from_ref(&plain) } else { says };
        let described = self.world().resource(resource);
        let others = described.fields.iter().filter(|other| other.name != field_doc.name);
        let words = |say: &String| {
            let words = without_owner(say, described, field).replace("{it}", &it);
            others.clone().fold(words, |words, other| {
                let told = beside.map(|beside| format!(" {{{}}}", member(beside, &other.name)));
                words.replace(&format!(" {{{}}}", other.name), &told.unwrap_or_default())
            })
        };
        all.iter().map(|say| sentence(&words(say).replace("{value}", &value))).collect()
    }

    /// Returns true if the values of a field are complete alone, unlike amounts with a currency in another
    /// field.
    pub(crate) fn stands_alone(&self, resource: ResourceId, field: FieldId) -> bool {
        let described = self.world().resource(resource);
        let is_number = matches!(described.field(field).schema.kind, Type::Integer | Type::Number);
        let says = self.writer.guide().says(resource, field);
        let tells =
            |say: &String| described.fields.iter().any(|other| say.contains(&format!("{{{}}}", other.name)));
        !self.is_of_document || !is_number || !says.is_empty() && !says.iter().any(tells)
    }

    /// Returns the assistant's messages after a change: phrases of the API, else that it is done.
    /// `key` is the path at which a reply shows the key of the new record.
    pub(crate) fn done(&self, id: ApiId, reply: &str, key: Option<(ResourceId, String)>) -> Vec<String> {
        let api = self.world().api(id);
        let mut all = Vec::new();
        for template in &self.writer.guide().api(id).done {
            all.extend(
                self.fill(api, template, 0, RequiredValues::Part(reply)).map(|words| sentence(&words)),
            );
        }
        if !all.is_empty() {
            return all;
        }
        // The user is told the number of a record that goes by one.
        let key = key.filter(|(resource, _)| self.writer.goes_by_number(*resource));
        let made = |at: usize| match &key {
            Some((_, path)) => {
                let words = &SPOKEN.made[at % SPOKEN.made.len().max(1)];
                fill(words, &[("value", &format!("{{{path}}}"))])
            }
            None => String::new(),
        };
        let clauses = self.clauses(id).into_iter().take(MAX_DONE).enumerate();
        let told = clauses.map(|(at, clause)| {
            let words = &SPOKEN.done[at % SPOKEN.done.len().max(1)];
            format!("{}{}", sentence(&fill(words, &[("did", &SPOKEN.did(&clause))])), made(at))
        });
        let told: Vec<String> = told.collect();
        if told.is_empty() { vec!["That's done.".to_owned()] } else { told }
    }

    /// Returns the words for a path in a named reply; none if a name in it cannot be written.
    pub(crate) fn place_in(&self, reply: &str, path: &str) -> Option<String> {
        let mut place = reply.to_owned();
        for part in path.split('.') {
            let (name, index) = part.split_at(part.find('[').unwrap_or(part.len()));
            if !name.is_empty() {
                let name = self.casing.read(name);
                is_identifier(&name).then_some(())?;
                place = member(&place, &name);
            }
            place.push_str(index);
        }
        Some(place)
    }

    /// Returns the request without its values, and the parameters left out: `change the name of {the_room}`.
    /// A new record keeps its name: `add a point called {name} to {the_server}` becomes `add a point called
    /// {name}`.
    /// Returns none if it leaves nothing out, or more than it names.
    pub(crate) fn without_values(&self, id: ApiId) -> Option<(String, Vec<ParameterId>)> {
        let is_create = matches!(self.world().api(id).behaviour.kind, BehaviourKind::Create { .. });
        let joints: &[&str] = match is_create {
            true => &[" with ", " so that ", " to {", " in {", " for {"],
            false => &[" called ", " with ", " to {", " to \"{", " so that "],
        };
        let clauses = self.clauses(id);
        let (clause, at) = clauses.iter().find_map(|clause| {
            let at = joints.iter().filter_map(|joint| clause.find(joint)).min()?;
            let names_it = clause.get(..at).is_some_and(|kept| kept.contains('{'));
            (names_it || !is_create).then_some((clause, at))
        })?;
        let (kept, rest) = clause.split_at(at);
        // Words in the kept part are said: a binding's record comes with its noun.
        let is_left = |(_, words): &&(ParameterId, Vec<String>)| {
            let place = words.first().map_or("", String::as_str).trim_end_matches('}');
            !kept.contains(place)
        };
        let left: Vec<ParameterId> = self.said.iter().filter(is_left).map(|(id, _)| *id).collect();
        // A change of two members would name the first alone.
        let names_one = kept.starts_with("change ") && left.len() > 1;
        (!left.is_empty() && !names_one && rest.contains('{')).then(|| (kept.to_owned(), left))
    }

    /// Returns the request without its details: `delete the role {Sid}` becomes `delete a role`.
    pub(crate) fn vague(&self, id: ApiId) -> Option<String> {
        let api = self.world().api(id);
        let is_value = |(own, _): &&(ParameterId, Vec<String>)| {
            refers_to(&api.parameters[own.index()].schema.kind).is_none()
        };
        let values = self.said.iter().filter(is_value).count();
        // The request must ask for the detail that comes later: a phrase for another member does not.
        // A change of two members would name the first alone.
        let is_fit = |template: &&Template| {
            let first = template.parts.first();
            let is_change = matches!(first, Some(Part::Text(text)) if text.starts_with("change "));
            (values < 2 || !is_change) && self.fill(api, template, 0, RequiredValues::All).is_some()
        };
        let templates: Vec<&Template> =
            self.writer.guide().api(id).imperative.iter().filter(is_fit).collect();
        // A singleton needs no detail.
        if values == self.said.len() {
            let one = templates.iter().find_map(|template| match template.parts.first() {
                Some(Part::Text(text)) => {
                    text.trim_end().trim_end_matches('"').trim_end().strip_suffix(" to")
                }
                _ => None,
            });
            if let Some(one) = one.filter(|text| text.contains(" the ")) {
                return Some(one.to_owned());
            }
        }
        templates.into_iter().find_map(opening)
    }
}

/// Drops the owner if the field's name contains it: `the credit balance` and not `the credit balance of the
/// balance`.
fn without_owner(words: &str, described: &Resource, field: FieldId) -> String {
    let label = &described.field(field).label;
    let says = label.rsplit(' ').next() == described.label.rsplit(' ').next();
    if described.singleton && says { words.replace(" of {it}", "") } else { words.to_owned() }
}

/// Puts strings of several words into quotation marks, where the phrase has none.
fn quote_texts(segments: &mut [Segment]) {
    for at in 1..segments.len() {
        let (before, rest) = segments.split_at_mut(at);
        let (Some(Segment::Text(before)), Some(Segment::Value(words))) = (before.last(), rest.first_mut())
        else {
            continue;
        };
        // A new record has no noun in the phrase, and a known one does.
        if !before.ends_with('"') && words.starts_with("{the_new_") {
            *words = quoted(words);
        }
    }
}

/// Quotes a binding whose value is a sentence or a title of several words.
pub(crate) fn quoted(words: &str) -> String {
    match words.strip_suffix('}') {
        Some(place) if place.starts_with('{') && !place.contains(['|', '}']) => format!("{place}|titled}}"),
        _ => words.to_owned(),
    }
}

/// Returns a value of a field as the assistant tells it.
pub(crate) fn tell_field(place: &str, field: &Field, bare: bool) -> String {
    match &field.schema.kind {
        Type::Enum(_) => tell_choice(place, &field.label),
        _ => tell(place, &field.schema, bare),
    }
}

/// Returns a choice in words: a state is no name, whatever its letters.
pub(crate) fn tell_choice(place: &str, label: &str) -> String {
    let filter = if SPOKEN.is_state(label) { "state" } else { "spoken" };
    format!("{{{place}|{filter}}}")
}

/// Returns a value of a reply as the assistant tells it.
pub(crate) fn tell(place: &str, schema: &Schema, bare: bool) -> String {
    match &schema.kind {
        Type::DateTime => format!("{{{place}|date}} at {{{place}|time}}"),
        Type::Enum(_) => format!("{{{place}|spoken}}"),
        Type::List(_) => format!("{{{place}|list}}"),
        _ if bare => format!("{{{place}}}"),
        _ => with_unit(format!("{{{place}}}"), schema),
    }
}

/// Returns the request of a phrase without its details: `add a user called {name}` becomes `add a user`.
fn opening(template: &Template) -> Option<String> {
    let Some(Part::Text(text)) = template.parts.first() else { return None };
    let text = text.trim_end().trim_end_matches('"').trim_end().trim_end_matches(" to");
    let cut = [" called", " with ", " to the", " for the"].iter().filter_map(|joint| text.find(joint)).min();
    if let Some(at) = cut {
        return Some(text[..at].to_owned());
    }
    let (before, noun) = match text.rsplit_once(" the ") {
        Some(parts) => parts,
        None => return text.contains(" my ").then(|| text.to_owned()),
    };
    if noun.contains(" my ") {
        return Some(text.to_owned());
    }
    // A phrase of removal also names the container.
    let from = template.parts.iter().find_map(|part| match part {
        Part::Text(text) => text.strip_prefix(" from the ").map(str::trim_end),
        _ => None,
    });
    let from = from.map(|from| format!(" from {} {from}", article(from))).unwrap_or_default();
    Some(format!("{before} {} {noun}{from}", article(noun)))
}
