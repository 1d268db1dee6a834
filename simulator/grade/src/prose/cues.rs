//! The phrases by which a message refuses, asks, offers, or says that something was done.

use std::sync::LazyLock;

use regex::Regex;

/// Compiles a pattern of this package; its tests match each.
#[expect(clippy::expect_used, reason = "the patterns are constants, and tests compile them")]
pub(super) fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("a constant pattern")
}

macro_rules! cues {
    ($($(#[$doc:meta])* $name:ident = $pattern:expr;)*) => {
        $($(#[$doc])* pub(super) static $name: LazyLock<Regex> = LazyLock::new(|| pattern($pattern));)*
    };
}

cues! {
    /// Says that something cannot be done, or was not.
    INABILITY = r"(?x)\b(?: can't | cannot | can\ not | couldn't | could\ not | unable | not\ able | (?:was|were|is|are)n't\ able | won't | refused | rejected | declined
        | failed | impossible | not\ possible | isn't\ possible | sorry(?:$|[,.!;—]|\ (?:but|i|we|that|to|no|about)) | unfortunately | (?:i'm|i\ am)\ afraid | regret
        | apologi[sz]e | apologies | beyond\ me | not\ something | isn't\ something | isn't\ for\ me )(?:\b|\s|$)";
    /// Says that an attempt failed.
    FAILURE = r"(?x)\b(?: can't | cannot | can\ not | couldn't | could\ not | unable | not\ able | failed | didn't\ work | not\ possible )\b | n't\ able\b";
    /// Denies, or names something in the way.
    OBJECTION = r"(?x) n't\b | \b(?: not | no | none | nothing | nobody | never | nor | neither | cannot | unknown | missing | already | only | instead | must
        | needs? | requires? | required | too | exceeds? | limit | full | conflicts? | someone\ else | out\ of | denied | against | beyond | rules? | policy | have\ to )\b";
    /// Denies that a write was made.
    DENIAL = r"(?x)\b(?: (?:didn't|did\ not|doesn't|hasn't|has\ not|haven't|have\ not|wasn't|was\ not|weren't|were\ not|isn't|aren't|not)\ (?:\w+\ ){0,2}?
          (?:go\ through|gone\ through|done|do\ (?:that|it|this|so)|work(?:ed)?|happen(?:ed)?|succeed(?:ed)?|made\ any|complete[d]?|carried\ out)
        | nothing\ (?:was|has\ been|is|has)\ (?:changed|done|made|booked|sent)
        | no\ changes?\ (?:was|were|has|have) | everything\ (?:\w+\ )?as\ it\ was )\b";
    /// The assistant has not done something; the first group is the verb.
    NOT_DONE = r"\bi (?:haven't|have not|didn't|did not) (?:yet |actually )?(\w+)";
    /// Says that something was done.
    CLAIM = r"(?x)\b(?: done | all\ set | booked | confirmed | completed | settled | arranged | saved | updated | changed | recorded | sorted
        | has\ been | have\ been | is\ now | are\ now | went\ through )\b";
    /// Asks the user for something outside a question.
    REQUEST = r"(?x)\b(?: please\ (?:tell|provide|confirm|specify|clarify|share|give|choose|pick|select|send|enter|let)
        | (?:i|i'll|i\ will|i\ just|we)\ need | let\ me\ know\ (?:which|what|when|whether|who|where|how) | need\ to\ know | tell\ me )\b";
    /// Offers to do something.
    OFFER = r"(?x)\b(?: would\ you\ like | shall\ i | should\ i | do\ you\ want | want\ me\ to | is\ that\ (?:ok|okay|correct|right) | is\ this\ correct
        | go\ ahead | proceed | anything\ else | can\ i | may\ i | could\ i | are\ you\ sure | help\ you | interested\ in | that\ work )\b";
    /// Says what would have to come first.
    CONDITION = r"^(?:before|once|if|as soon as|when|unless)\b";
    /// Stands before a value that is only near.
    APPROXIMATE = r"(?i)\b(?:about|around|approximately|roughly|nearly|almost|just under|just over|bit under|bit over|ca\.?)\s+\S?$";
    /// A code: capitals with digits, `RO-64257` and `B4`.
    CODE = r"\b[A-Z]{1,5}(?:-?\d+)(?:-[A-Z\d]+)*\b";
    /// Takes back what was said before.
    CORRECTION = r"(?x)\b(?: actually | correction | misread | mistaken? | mistake | wrong | oops | scratch | no,\ wait | wait, | sorry )";
    /// Blames the system.
    BREAKDOWN = r"(?x)\b(?: try\ again\ later | system\ is\ down | went\ wrong | technical | internal\ error )\b";
    /// Stands before a state that is said of a subject.
    PREDICATE = r"(?i)\b(?:is|are|was|were|be|it's|stays|switched|turned|now|currently|a|an)\s+(?:now\s+|still\s+|currently\s+|switched\s+|turned\s+)?$";
    /// Stands before a state that only some may be in.
    RELATIVE = r"(?i)\b(?:that|which|who|can\s+be|could\s+be|if|only)\s+(?:\w+\s+){0,2}$";
    /// Asks for one of several, and not for leave.
    CHOICE = r"\b(?:which|who|whom|whose|when|where)\b";
    /// A courtesy that needs no answer.
    COURTESY = r"(?x)\b(?: anything | else | further | questions )\b";
}

/// Reasons that anybody may give who knows none.
pub(super) const EXCUSES: [&str; 5] = [
    "something went wrong, please try again later",
    "a technical problem with the system",
    "it was not found, is not allowed, or is not valid",
    "you lack the permission",
    "I can't help with that",
];
