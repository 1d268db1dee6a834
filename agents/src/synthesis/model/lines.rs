//! The lines of a candidate, taken out and put back: what a model writes anew while calls and claims stay.

use diorama_proof::Candidate;
use diorama_proof::candidate::CandidateGoal;
use diorama_simulator::user::joined;
use serde::{Deserialize, Serialize};

/// The user's words in a conversation, goal by goal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserLines {
    /// The goals.
    pub goals: Vec<GoalLines>,
}

/// The user's words in one goal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalLines {
    /// What opens it.
    pub opening: String,
    /// The answers that are held back, in the order of the goal's `withheld`.
    #[serde(default)]
    pub held: Vec<String>,
    /// What the user says of their own accord.
    #[serde(default)]
    pub later: Vec<String>,
}

/// What a turn of the user is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The opening of a goal.
    Opening,
    /// The answer to a question: details that were held back, by position.
    Held(Vec<usize>),
    /// A line of their own, by position.
    Later(usize),
}

/// Returns the kind of each turn of the user in a goal, the opening first.
#[must_use]
pub fn kinds(goal: &CandidateGoal) -> Vec<Kind> {
    let mut kinds = vec![Kind::Opening];
    let mut later = 0;
    for said in goal.turns.iter().filter_map(|turn| turn.user.as_deref()) {
        let held: Vec<usize> = goal.given_by(said).collect();
        if held.is_empty() {
            kinds.push(Kind::Later(later));
            later += 1;
        } else {
            kinds.push(Kind::Held(held));
        }
    }
    kinds
}

impl UserLines {
    /// The lines of a candidate.
    #[must_use]
    pub fn of(candidate: &Candidate) -> Self {
        let goals = candidate.goals.iter().map(|goal| {
            let users = goal.turns.iter().filter_map(|turn| turn.user.clone());
            let later =
                users.zip(kinds(goal).into_iter().skip(1)).filter(|(_, kind)| matches!(kind, Kind::Later(_)));
            GoalLines {
                opening: goal.user.clone(),
                held: goal.withheld.values().cloned().collect(),
                later: later.map(|(said, _)| said).collect(),
            }
        });
        Self { goals: goals.collect() }
    }

    /// Whether there are as many lines as in others.
    #[must_use]
    pub fn fits(&self, other: &Self) -> bool {
        self.goals.len() == other.goals.len()
            && self.goals.iter().zip(&other.goals).all(|(own, other)| {
                (own.held.len(), own.later.len()) == (other.held.len(), other.later.len())
            })
    }

    /// All lines, in order.
    pub fn iter(&self) -> impl Iterator<Item = &String> {
        self.goals.iter().flat_map(|goal| std::iter::once(&goal.opening).chain(&goal.held).chain(&goal.later))
    }

    /// All lines, in order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.goals
            .iter_mut()
            .flat_map(|goal| std::iter::once(&mut goal.opening).chain(&mut goal.held).chain(&mut goal.later))
    }

    /// The candidate with these lines instead of its own.
    #[must_use]
    pub fn put_into(&self, candidate: &Candidate) -> Candidate {
        let mut candidate = candidate.clone();
        for (goal, lines) in candidate.goals.iter_mut().zip(&self.goals) {
            let kinds = kinds(goal);
            goal.user.clone_from(&lines.opening);
            let users = goal.turns.iter_mut().filter_map(|turn| turn.user.as_mut());
            for (user, kind) in users.zip(kinds.into_iter().skip(1)) {
                match kind {
                    Kind::Opening => {}
                    Kind::Held(held) => {
                        let parts: Vec<&str> =
                            held.iter().filter_map(|at| lines.held.get(*at)).map(String::as_str).collect();
                        *user = joined(&parts);
                    }
                    Kind::Later(at) => {
                        if let Some(line) = lines.later.get(at) {
                            user.clone_from(line);
                        }
                    }
                }
            }
            for (say, line) in goal.withheld.values_mut().zip(&lines.held) {
                say.clone_from(line);
            }
        }
        candidate
    }
}

/// What the assistant says, message by message over the whole conversation.
#[must_use]
pub fn says(candidate: &Candidate) -> Vec<String> {
    candidate.goals.iter().flat_map(|goal| &goal.turns).filter_map(|turn| turn.say.clone()).collect()
}

/// The candidate with other words of the assistant, as many as it has.
#[must_use]
pub fn with_says(candidate: &Candidate, says: &[String]) -> Candidate {
    let mut candidate = candidate.clone();
    let own =
        candidate.goals.iter_mut().flat_map(|goal| &mut goal.turns).filter_map(|turn| turn.say.as_mut());
    for (say, words) in own.zip(says) {
        say.clone_from(words);
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
    fn lines_go_back_where_they_came_from() {
        let candidate = Candidate::read(CANDIDATE.as_bytes()).unwrap();
        let lines = UserLines::of(&candidate);
        let all: Vec<&String> = lines.iter().collect();
        assert_eq!(all, ["Please move it.", "It's under Ana Reis.", "Friday", "Monday then."]);
        assert_eq!(lines.put_into(&candidate), candidate);
        let mut other = lines.clone();
        other.iter_mut().for_each(|line| *line = format!("Well, {line}"));
        let moved = other.put_into(&candidate);
        let users: Vec<&str> = moved.goals[0].turns.iter().filter_map(|turn| turn.user.as_deref()).collect();
        assert_eq!(users, ["Well, It's under Ana Reis. Well, Friday", "Well, Monday then."]);
        assert_eq!(moved.goals[0].withheld["day"], "Well, Friday");
        assert_eq!(UserLines::of(&moved), other);
        let said = says(&candidate);
        assert_eq!(with_says(&candidate, &said), candidate);
        assert_eq!(said.len(), 3);
    }
}
