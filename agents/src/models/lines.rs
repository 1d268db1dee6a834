//! Owns the lines of a conversation: a model rewords them while the calls and claims stay.

use diorama_proof::candidate::{CandidateGoal, Turn};
use diorama_proof::{Candidate, GroundedCandidate};
use diorama_seeds::model::World;
use diorama_user::join_sentences;

/// Maximum length of a reply in prompts, in characters.
const SHOWN: usize = 1_200;

/// Speaker of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The user.
    User,
    /// The assistant.
    Assistant,
}

impl Speaker {
    /// Returns the name of the speaker in prompts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "User",
            Self::Assistant => "Assistant",
        }
    }
}

/// A spoken line, a call, or a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A spoken line.
    Said {
        /// Speaker of the line.
        speaker: Speaker,
        /// Words of the line.
        words: String,
    },
    /// A call or a reply, between two spoken lines.
    Happens(String),
}

/// Kind of a user turn after the opening of a goal.
enum Kind {
    /// The answer to a question: positions of withheld details.
    Held(Vec<usize>),
    /// A line that gives no withheld detail.
    Own,
}

fn kind(goal: &CandidateGoal, said: &str) -> Kind {
    let held: Vec<usize> = goal.given_by(said).collect();
    if held.is_empty() { Kind::Own } else { Kind::Held(held) }
}

/// Returns the lines of a conversation, in order. Each withheld detail is a line of its own.
pub fn lines(grounded: &GroundedCandidate, world: &World) -> Vec<Line> {
    let said = |speaker, words: &str| Line::Said { speaker, words: words.to_owned() };
    let mut lines = Vec::new();
    let mut calls = 0;
    for goal in &grounded.candidate.goals {
        lines.push(said(Speaker::User, &goal.user));
        for turn in &goal.turns {
            if let Some(user) = &turn.user {
                match kind(goal, user) {
                    Kind::Own => lines.push(said(Speaker::User, user)),
                    Kind::Held(held) => {
                        let details = held.into_iter().filter_map(|at| goal.withheld.get_index(at));
                        lines.extend(details.map(|(_, detail)| said(Speaker::User, detail)));
                    }
                }
            }
            lines.extend(turn.say.as_ref().map(|words| said(Speaker::Assistant, words)));
            let first = calls;
            for call in &turn.calls {
                let arguments = serde_json::to_string(&call.arguments).unwrap_or_default();
                lines.push(Line::Happens(format!("Call: {} {arguments}", call.api)));
                calls += 1;
            }
            for entry in grounded.entries.get(first..calls).unwrap_or_default() {
                let reply = entry.reply.to_json(&world.zone);
                let shown: String = reply.chars().take(SHOWN).collect();
                let cut = if shown.len() < reply.len() { " ..." } else { "" };
                lines.push(Line::Happens(format!("Reply ({}): {shown}{cut}", entry.reply.status)));
            }
        }
    }
    lines
}

/// Returns the candidate with other words. `words` has one text for each spoken line, in the order of
/// [`lines`].
pub fn with_words(candidate: &Candidate, words: &[String]) -> Candidate {
    let mut candidate = candidate.clone();
    let mut words = words.iter();
    let mut next = |own: &mut String| {
        if let Some(words) = words.next() {
            own.clone_from(words);
        }
    };
    for goal in &mut candidate.goals {
        let before = goal.clone();
        next(&mut goal.user);
        let mut asked: Option<String> = None;
        for turn in &mut goal.turns {
            let Turn { user, say, .. } = turn;
            if let Some(user) = user {
                match kind(&before, user) {
                    Kind::Own => next(user),
                    Kind::Held(held) => {
                        for at in &held {
                            let Some((about, detail)) = goal.withheld.get_index_mut(*at) else { continue };
                            next(detail);
                            // The user must also understand the reworded question.
                            goal.questions.entry(about.clone()).or_default().extend(asked.clone());
                        }
                        let details = held.iter().filter_map(|at| goal.withheld.get_index(*at));
                        let told: Vec<&str> = details.map(|(_, detail)| detail.as_str()).collect();
                        *user = join_sentences(&told);
                    }
                }
            }
            if let Some(say) = say {
                next(say);
                asked = Some(say.clone());
            }
        }
    }
    candidate
}

#[cfg(test)]
mod tests {
    use super::*;

    const CANDIDATE: &str = r#"{"candidate": 1, "goals": [{"user": "Please move it.",
        "withheld": {"patient": "It's under Ana Reis.", "day": "Friday"},
        "turns": [{"say": "Whose is it, and when?"}, {"user": "It's under Ana Reis. Friday"},
                  {"say": "Friday is full. Monday?"}, {"user": "Monday then."},
                  {"say": "Done.", "ends": {"outcome": "done"}}]}]}"#;

    #[test]
    fn words_go_where_those_of_the_conversation_were() {
        let candidate = Candidate::read(CANDIDATE.as_bytes()).unwrap();
        let own = ["a", "b", "c", "d", "e", "f", "g"].map(str::to_owned);
        let moved = with_words(&candidate, &own);
        let goal = &moved.goals[0];
        let users: Vec<&str> = goal.turns.iter().filter_map(|turn| turn.user.as_deref()).collect();
        let says: Vec<&str> = goal.turns.iter().filter_map(|turn| turn.say.as_deref()).collect();
        assert_eq!((&*goal.user, users, says), ("a", vec!["c. d", "f"], vec!["b", "e", "g"]));
        assert_eq!((&*goal.withheld["patient"], &*goal.withheld["day"]), ("c", "d"));
        assert_eq!(goal.questions["day"], ["b"]);
    }
}
