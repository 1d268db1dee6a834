//! Owns the compilation of a domain's policy: the expression of each rule, and the equivalent sentences.

use super::super::findings::Findings;
use super::api::Builder;
use super::{Part, Resolver, listed};
use crate::doc::{AmountDoc, HouseDoc, RuleDoc};
use crate::english::{capitalised, enumerate, is_plural, singular};
use crate::expr::eval::{Budget, Env, NoRecords};
use crate::expr::{self, Scope};
use crate::model::{Articles, Confirm, DomainId, HouseRule, Require};
use crate::schema::Type;
use crate::task::RefusalClass;
use crate::value::{Instant, Str, Zone, nfc};
use diorama_format::path::Path;

/// HTTP status with which [`World::shadow`](crate::model::World::shadow) refuses a call that breaks a rule.
const FORBIDDEN: u16 = 403;
/// Maximum number of rules of a domain.
const MAX_RULES: usize = 64;
/// Least distance of an example from the number of its rule.
const MIN_EXAMPLE_DISTANCE: i64 = 2;
/// The last hour of a day.
const MAX_HOUR: i64 = 23;

/// Meaning of a rule, as an expression and in words. `{}` stands for the action, `{^}` for the action at the
/// start of a sentence.
pub(super) struct Meaning {
    /// Name of the rule's shape in the document.
    shape: &'static str,
    /// None if the log of a conversation decides the rule rather than a record.
    pub(super) condition: Option<String>,
    wordings: [String; 3],
    /// The number that the rule sets, as a clause for the people whom it concerns. None without a number.
    limit: Option<String>,
    /// Cases far from the rule's number: a description, and the condition for it.
    cases: Vec<(String, String)>,
}

/// Time and zone with which the examples of rules are evaluated.
#[derive(Clone, Copy)]
pub(super) struct Moment<'a> {
    pub(super) clock: Instant,
    pub(super) zone: &'a Zone,
}

impl Builder<'_> {
    /// Returns the rules of the domain's policy that govern the API.
    pub(super) fn rules(&mut self) -> Vec<Require> {
        self.shared.part.house().map_or_else(Vec::new, |house| self.rules_of(house))
    }

    /// The same rules with the numbers of articles that were replaced.
    pub(super) fn replaced_rules(&mut self) -> Vec<Require> {
        let Some(house) = self.shared.part.house() else { return Vec::new() };
        let replaced = house.articles.iter().flat_map(|articles| &articles.replaced);
        let numbers: Vec<(&String, &i64)> =
            replaced.filter(|(name, _)| house.numbers.contains_key(*name)).collect();
        if numbers.is_empty() {
            return Vec::new();
        }
        let mut before = house.clone();
        for (name, number) in numbers {
            before.numbers.insert(name.clone(), vec![*number]);
        }
        self.rules_of(&before)
    }

    fn rules_of(&mut self, house: &HouseDoc) -> Vec<Require> {
        let root = self.shared.part.path();
        let head = root.name("domain");
        let section = head.name("house");
        let list = section.name("rules");
        let mut rules = Vec::new();
        for (position, rule) in house.rules.iter().enumerate() {
            if !rule.calls.contains(&self.doc.name) {
                continue;
            }
            // An invalid rule is reported once, for the domain.
            let Some(meaning) = meaning(rule, house) else { continue };
            let Some(condition) = meaning.condition else { continue };
            let here = list.index(position);
            let mut clauses = self.exemptions(rule, &here);
            clauses.insert(usize::from(rule.when.is_some()), format!("({condition})"));
            rules.push(Require {
                that: self.condition(&clauses.join(" || "), &here.name(meaning.shape)),
                status: FORBIDDEN,
                reasons: vec![RefusalClass::Forbidden],
                message: nfc(&rule.name),
            });
        }
        rules
    }

    /// Returns the rules of the domain's policy that require the user's consent to a call of the API.
    pub(super) fn confirms(&mut self) -> Vec<Confirm> {
        let Some(house) = self.shared.part.house() else { return Vec::new() };
        let root = self.shared.part.path();
        let head = root.name("domain");
        let section = head.name("house");
        let list = section.name("rules");
        let mut confirms = Vec::new();
        for (position, rule) in house.rules.iter().enumerate() {
            let Some(confirm) = rule.confirm.as_ref().filter(|_| rule.calls.contains(&self.doc.name)) else {
                continue;
            };
            let rule_path = list.index(position);
            let here = rule_path.name("confirm");
            let exemptions = self.exemptions(rule, &rule_path);
            let exempt = if exemptions.is_empty() { "false".to_owned() } else { exemptions.join(" || ") };
            let state_path = here.name("state");
            let state = confirm.state.iter().enumerate().map(|(number, stated)| {
                let value = self.expression(&stated.of, &state_path.index(number).name("of"));
                (nfc(&stated.what), value)
            });
            let state = state.collect();
            confirms.push(Confirm { rule: nfc(&rule.name), exempt: self.condition(&exempt, &here), state });
        }
        confirms
    }

    /// Returns the conditions under which a rule does not govern a call. The condition of `when` is first.
    fn exemptions(&mut self, rule: &RuleDoc, here: &Path<'_>) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(when) = &rule.when {
            self.condition(when, &here.name("when"));
            found.push(format!("!({when})"));
        }
        for (number, exception) in rule.unless.iter().enumerate() {
            self.condition(&exception.that, &here.name("unless").index(number).name("that"));
            found.push(format!("({})", exception.that));
        }
        found
    }
}

impl Resolver<'_> {
    /// Finds the records that tell the policy of the domain.
    pub(super) fn find_articles(&self, findings: &mut Findings) -> Option<Articles> {
        let doc = self.part.house()?.articles.as_ref()?;
        let root = self.part.path();
        let head = root.name("domain");
        let section = head.name("house");
        let here = section.name("articles");
        let Some(resource) = self.names.resource(self.id, &doc.resource) else {
            error!(findings, here.name("resource") =>
                "found the resource `{}`, expected one of {}", doc.resource, self.names.known(self.id);
                "name the resource whose records tell the policy");
            return None;
        };
        let declared = &self.resources[resource.index()];
        let mut field = |member: &str, name: &str, fits: &dyn Fn(&Type) -> bool, wanted: &str| {
            let found = declared.field_named(name).filter(|id| fits(&declared.field(*id).schema.kind));
            if found.is_none() {
                error!(findings, here.name(member) =>
                    "found `{name}`, expected a field of `{}` that is {wanted}", doc.resource;
                    "name one of {}", listed(declared.fields.iter().map(|field| &*field.name)));
            }
            found
        };
        let is_text = |kind: &Type| matches!(kind, Type::String);
        let text = field("text", &doc.text, &is_text, "a string");
        let is_list = |kind: &Type| matches!(kind, Type::List(item) if is_text(&item.kind));
        let rules = field("rules", &doc.rules, &is_list, "a list of strings");
        let numbers = self.part.house().map(|house| &house.numbers)?;
        for name in doc.replaced.keys().filter(|name| !numbers.contains_key(*name)) {
            error!(findings, here.name("replaced").name(name) =>
                "found the number `{name}`, expected one of {}", listed(numbers.keys().map(String::as_str));
                "name a number of `numbers`");
        }
        Some(Articles { resource, text: text?, rules: rules? })
    }
}

/// Checks the policy of a domain, and returns its rules in words.
pub(super) fn compile(part: &Part<'_>, moment: Moment<'_>, findings: &mut Findings) -> Vec<HouseRule> {
    let Some(house) = part.house() else { return Vec::new() };
    let root = part.path();
    let head = root.name("domain");
    let here = head.name("house");
    let numbers = here.name("numbers");
    for (name, values) in &house.numbers {
        if values.is_empty() {
            error!(findings, numbers.name(name) => "found no value, expected at least one";
                "list the values of which each world draws one, such as `[24, 36, 48]`");
        }
    }
    let list = here.name("rules");
    if house.rules.len() > MAX_RULES {
        error!(findings, list => "found {} rules, expected at most {MAX_RULES}", house.rules.len(); "drop some");
        return Vec::new();
    }
    let mut rules: Vec<HouseRule> = Vec::with_capacity(house.rules.len());
    for (position, rule) in house.rules.iter().enumerate() {
        let path = list.index(position);
        if rule.name.trim().is_empty() || rules.iter().any(|other| *other.name == *rule.name) {
            error!(findings, path.name("name") => "found the name `{}`, expected one that no other rule has", rule.name;
                "name the rule by what it asks, such as `notice_to_cancel`");
        }
        if rule.act.trim().is_empty() {
            error!(findings, path.name("act") => "found no words";
                "say what the rule governs, such as `cancel an appointment`");
        }
        if rule.calls.is_empty() {
            error!(findings, path.name("calls") => "found no API, expected at least one";
                "name the APIs that the rule governs");
        }
        for (number, call) in rule.calls.iter().enumerate() {
            if !part.apis.iter().any(|api| api.name == *call) {
                error!(findings, path.name("calls").index(number) =>
                    "found the API `{call}`, expected one of {}", listed(part.apis.iter().map(|api| &*api.name));
                    "name an API of the domain");
            }
        }
        for (name, amount) in amounts(rule) {
            if let AmountDoc::Name(unknown) = amount
                && !house.numbers.contains_key(unknown)
            {
                error!(findings, path.name(name) =>
                    "found the number `{unknown}`, expected one of {}", listed(house.numbers.keys().map(String::as_str));
                    "name a number of `numbers`, or write the number itself");
            }
        }
        match meaning(rule, house) {
            Some(meaning) => rules.push(HouseRule {
                name: nfc(&rule.name),
                act: nfc(&rule.act),
                sentences: sentences(rule, &meaning),
                limit: meaning.limit.as_deref().map(nfc),
                examples: examples(rule, &meaning, moment),
            }),
            None => {
                error!(findings, path => "found no shape that says all it needs";
                    "write exactly one of `notice` (with `hours` or `days`), `cap`, `window`, `role` (`is` and `where`, or `by`), \
                     `frequency`, `obligation`, `order`, `confirm` (with values to `state`)");
            }
        }
    }
    rules
}

/// Returns the numbers of a rule, each with its shape.
fn amounts(rule: &RuleDoc) -> Vec<(&'static str, &AmountDoc)> {
    let mut found = Vec::new();
    if let Some(notice) = &rule.notice {
        found.extend(notice.hours.iter().chain(&notice.days).map(|amount| ("notice", amount)));
    }
    found.extend(rule.cap.iter().map(|cap| ("cap", &cap.at_most)));
    found.extend(rule.frequency.iter().map(|frequency| ("frequency", &frequency.at_most)));
    found.extend(rule.window.iter().flat_map(|window| [("window", &window.from), ("window", &window.to)]));
    found
}

/// Returns the meaning of a rule. Returns none if its shape is missing, is incomplete, or is not the only
/// one.
pub(super) fn meaning(rule: &RuleDoc, house: &HouseDoc) -> Option<Meaning> {
    let number = |amount: &AmountDoc| match amount {
        AmountDoc::Number(number) => Some(*number),
        AmountDoc::Name(name) => house.numbers.get(name)?.first().copied(),
    };
    let mut found: Vec<Option<Meaning>> = Vec::new();
    if let Some(notice) = &rule.notice {
        found.push((|| {
            let (of, until) = (&notice.of, &notice.until);
            let (least, unit) = match (&notice.hours, &notice.days) {
                (Some(hours), None) => (number(hours)?, "hours"),
                (None, Some(days)) => (number(days)?, "days"),
                _ => return None,
            };
            let holds = |of: &str| match unit {
                "hours" => format!("({of}) >= now + hours({least})"),
                _ => format!("date({of}) >= today + days({least})"),
            };
            let from = if unit == "hours" { "now" } else { "today" };
            let case = |left: i64| {
                let given = format!("With {} left until {until}", counted(left, unit));
                (given, holds(&format!("{from} + {unit}({left})")))
            };
            let cases = far_from(least).into_iter().flatten().map(case).collect();
            let (condition, left) = (holds(of), counted(least, unit));
            let verb = if least == 1 { "is" } else { "are" };
            let wordings = [
                format!("Do not {{}} when less than {left} {verb} left until {until}."),
                format!("{{^}} only while at least {left} {verb} left until {until}."),
                format!("To {{}}, at least {left} must be left until {until}."),
            ];
            let limit = Some(format!("at least {left} must be left until {until}"));
            Some(Meaning { shape: "notice", condition: Some(condition), wordings, limit, cases })
        })());
    }
    if let Some(cap) = &rule.cap {
        found.push(number(&cap.at_most).map(|most| {
            let (what, most_words) = (&cap.what, measured(most, cap.unit.as_deref()));
            let wordings = [
                format!("Do not {{}} if {what} is more than {most_words}."),
                format!("{{^}} only where {what} is {most_words} at most."),
                format!("When you {{}}, {what} may not be above {most_words}."),
            ];
            let case = |value: i64| {
                let given = format!("If {what} is {}", measured(value, cap.unit.as_deref()));
                (given, format!("({value}) <= {most}"))
            };
            let cases = far_from(most).into_iter().flatten().map(case).collect();
            let condition = Some(format!("({}) <= {most}", cap.of));
            let limit = Some(format!("{what} may be {most_words} at most"));
            Meaning { shape: "cap", condition, wordings, limit, cases }
        }));
    }
    if let Some(window) = &rule.window {
        found.push((|| {
            let (from, to, of, what) = (number(&window.from)?, number(&window.to)?, &window.of, &window.what);
            let clock = |hour: i64| (0..=MAX_HOUR).contains(&hour).then(|| format!("{hour:02}:00"));
            let spelt = |value: i64| match window.clock {
                true => clock(value),
                false => Some(value.to_string()),
            };
            let literal =
                |text: &str| if window.clock { format!("time('{text}')") } else { format!("({text})") };
            let (first, last) = (spelt(from)?, spelt(to)?);
            let holds = |of: &str| format!("({of}) >= {} && ({of}) <= {}", literal(&first), literal(&last));
            let ([below, _], [_, above]) = (far_from(from), far_from(to));
            let values = [below, Some(from.midpoint(to)), above].into_iter().flatten().filter_map(spelt);
            let cases =
                values.map(|value| (format!("If {what} is {value}"), holds(&literal(&value)))).collect();
            let condition = Some(holds(of));
            let (below, above) = if window.clock { ("before", "after") } else { ("below", "above") };
            let wordings = [
                format!("Do not {{}} unless {what} is from {first} to {last}."),
                format!("{{^}} only where {what} lies between {first} and {last}, both included."),
                format!("When you {{}}, {what} may be neither {below} {first} nor {above} {last}."),
            ];
            let limit = Some(format!("{what} has to lie between {first} and {last}"));
            Some(Meaning { shape: "window", condition, wordings, limit, cases })
        })());
    }
    if let Some(role) = &rule.role {
        found.push(match (&role.is, &role.clause, &role.by) {
            (Some(is), Some(clause), None) => Some(Meaning {
                shape: "role",
                condition: Some(is.clone()),
                cases: Vec::new(),
                limit: None,
                wordings: [
                    format!("Do not {{}} unless {clause}."),
                    format!("{{^}} only if {clause}."),
                    format!("You may {{}} where {clause}, and not otherwise."),
                ],
            }),
            (None, None, Some(by)) => Some(Meaning {
                shape: "role",
                condition: Some("false".to_owned()),
                cases: Vec::new(),
                limit: None,
                wordings: [
                    format!("Do not {{}}: that is for {by} alone."),
                    format!("Only {by} may {{}}; you may not."),
                    format!("Leave it to {by} to {{}}, and refuse it yourself."),
                ],
            }),
            _ => None,
        });
    }
    if let Some(frequency) = &rule.frequency {
        found.push(number(&frequency.at_most).map(|most| {
            let (what, who) = (&frequency.what, &frequency.who);
            let most_words = counted(most, what);
            let wordings = [
                format!("{} may have {most_words} at most: do not {{}} beyond that.", capitalised(who)),
                format!("Do not {{}} where {who} has {most_words} already."),
                format!("No more than {most_words} for {who}: {{}} only below that."),
            ];
            let case = |value: i64| {
                (format!("If {who} has {} already", counted(value, what)), format!("({value}) < {most}"))
            };
            let cases = far_from(most).into_iter().flatten().map(case).collect();
            let condition = Some(format!("({}) < {most}", frequency.of));
            let limit = Some(format!("{who} may have {most_words} at most"));
            Meaning { shape: "frequency", condition, wordings, limit, cases }
        }));
    }
    if let Some(obligation) = &rule.obligation {
        let duty = &obligation.duty;
        let wordings = [
            format!("Do not {{}} before {duty}."),
            format!("Before you {{}}, make sure that {duty}."),
            format!("{{^}} only once {duty}."),
        ];
        found.push(Some(Meaning {
            shape: "obligation",
            condition: Some(obligation.done.clone()),
            wordings,
            limit: None,
            cases: Vec::new(),
        }));
    }
    if let Some(order) = &rule.order {
        let event = &order.event;
        let wordings = [
            format!("Do not {{}} once {event}."),
            format!("After {event}, you may no longer {{}}."),
            format!("Never {{}} after {event}."),
        ];
        found.push(Some(Meaning {
            shape: "order",
            condition: Some(format!("!({})", order.after)),
            wordings,
            limit: None,
            cases: Vec::new(),
        }));
    }
    if let Some(confirm) = &rule.confirm {
        let nouns: Vec<&str> = confirm.state.iter().map(|stated| &*stated.what).collect();
        let values = enumerate(&nouns);
        let wordings = [
            format!("Do not {{}} before you have told the user {values} and they have said yes."),
            format!("Before you {{}}, state {values} and get a yes from the user."),
            format!("{{^}} only once the user has heard {values} from you and agreed."),
        ];
        let has_words = !nouns.is_empty() && nouns.iter().all(|noun| !noun.trim().is_empty());
        let meaning = Meaning { shape: "confirm", condition: None, wordings, limit: None, cases: Vec::new() };
        found.push(has_words.then_some(meaning));
    }
    let mut found = found.into_iter();
    let only = found.next()?;
    only.filter(|_| found.next().is_none())
}

/// Returns the values of examples: far below a number, and far above it. They must not answer for values near
/// the number.
fn far_from(number: i64) -> [Option<i64>; 2] {
    let distance = (number.saturating_abs() / 2).max(MIN_EXAMPLE_DISTANCE);
    let below = number.saturating_sub(distance);
    [(number < 0 || below >= 0).then_some(below), Some(number.saturating_add(distance))]
}

/// Returns the wordings of a rule, each with its exceptions.
fn sentences(rule: &RuleDoc, meaning: &Meaning) -> Vec<Str> {
    let clauses: Vec<&str> = rule.unless.iter().map(|exception| &*exception.clause).collect();
    let clauses = clauses.join(", or if ");
    let exceptions = match clauses.is_empty() {
        true => [String::new(), String::new(), String::new()],
        false => [
            format!(" This does not apply if {clauses}."),
            format!(" The exception: if {clauses}."),
            format!(" This rule does not hold if {clauses}."),
        ],
    };
    let starts = capitalised(&rule.act);
    let filled = meaning.wordings.iter().zip(exceptions).map(|(wording, exception)| {
        nfc(&format!("{}{exception}", wording.replace("{^}", &starts).replace("{}", &rule.act)))
    });
    filled.collect()
}

/// Returns the cases of a rule with the verdicts of its expression.
fn examples(rule: &RuleDoc, meaning: &Meaning, moment: Moment<'_>) -> Vec<Str> {
    let Moment { clock, zone } = moment;
    let budget = Budget::default();
    let env = Env { arguments: &[], bound: &[], clock, zone, records: &NoRecords, budget: &budget };
    let verdict = |source: &str| {
        let expr = expr::compile_condition(source, &mut Scope::new(&[], DomainId(0), zone)).ok()?;
        env.holds(&expr.node).ok()
    };
    let without = if rule.unless.is_empty() { "" } else { ", and no exception holds" };
    let example = |(given, source): &(String, String)| {
        let may = if verdict(source)? { "you may" } else { "you must not" };
        Some(nfc(&format!("{given}{without}: {may} {}.", rule.act)))
    };
    meaning.cases.iter().filter_map(example).collect()
}

/// Returns a number with its noun: `1 hour`, `24 hours`.
fn counted(number: i64, plural: &str) -> String {
    if number != 1 {
        return format!("{number} {plural}");
    }
    // The first plural is the head: `jobs on the day`. A clause behind it follows its number.
    let mut words: Vec<String> = plural.split(' ').map(str::to_owned).collect();
    if let Some(noun) = words.iter_mut().find(|word| is_plural(word)) {
        *noun = singular(noun);
    }
    let one = words.join(" ").replacen(" that are ", " that is ", 1).replacen(" that have ", " that has ", 1);
    format!("1 {one}")
}

fn measured(number: i64, unit: Option<&str>) -> String {
    unit.map_or_else(|| number.to_string(), |unit| counted(number, unit))
}
