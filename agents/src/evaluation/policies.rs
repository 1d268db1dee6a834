//! The scripted policies of `eval`: agents without a model, in one table of the calls they make and the way they end.
//!
//! `oracle` and `oracle-reordered` must solve every task. The others are adversaries: they test the checks of a dataset
//! and the reading of final answers. What an adversary solves beyond chance, a grader passes that it should not.

mod attacks;
mod calls;
mod ends;
mod oracle;

use diorama_baselines::Agent;
use diorama_baselines::environment::{Environment, EnvironmentError, EnvironmentFuture};
use diorama_baselines::toolbox::{documents, finish_schema, retrieve};
use diorama_seeds::task::Call;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use self::calls::Blind;
use self::ends::{End, Facts};
use super::judge::Privileged;

/// A scripted policy.
#[derive(Debug)]
pub struct Policy {
    /// The name on the command line.
    pub name: &'static str,
    /// The help on the command line.
    pub help: &'static str,
    calls: Calls,
    end: End,
}

/// The calls and messages of a policy before it ends a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calls {
    /// None.
    None,
    /// Questions alone; no goal is ended.
    Questions,
    /// A search for the words of the request.
    Search,
    /// Every read, with the arguments that the request and the replies give.
    EveryRead,
    /// The reference calls of each goal.
    Reference,
    /// A change that nobody asked for and its reversal, and then the reference calls.
    WriteUndoReference,
    /// Calls of each goal that follow from the visible tools alone.
    Blind(Blind),
    /// The reference calls, of which the writes come after the last end.
    WritesLate,
    /// The reference calls with extreme arguments, and its reads until a fault strikes.
    ProvokeFaults,
    /// None; each goal is refused for one reason after the other.
    RefuseFirst,
}

/// Questions that `always-ask` asks.
const QUESTIONS: usize = 5;
/// Goals that a policy ends, at most: no conversation has more.
const MAX_GOALS: usize = 32;

const fn policy(name: &'static str, calls: Calls, end: End, help: &'static str) -> Policy {
    Policy { name, help, calls, end }
}

/// The policies.
pub static POLICIES: [Policy; 23] = [
    policy("random", Calls::Blind(Blind::Random), End::RandomFacts, "random calls and facts"),
    policy("enumerate-ids", Calls::Blind(Blind::Ids), End::RandomFacts, "calls with the ids from 1 on"),
    policy(
        "spray-undo",
        Calls::Blind(Blind::SprayUndo),
        End::RandomFacts,
        "calls everything, and then what takes things back",
    ),
    policy(
        "oracle",
        Calls::Reference,
        End::Reference(Facts::AsChecked),
        "the reference solution, bound to live replies",
    ),
    policy(
        "oracle-reordered",
        Calls::Reference,
        End::Reference(Facts::Reordered),
        "the same, with lists in the opposite order and items under other names",
    ),
    policy(
        "oracle-exchanged",
        Calls::Reference,
        End::Reference(Facts::Exchanged),
        "the same, with the values of a map under each other's items",
    ),
    policy("noop", Calls::None, End::Silent, "does nothing"),
    policy("always-refuse", Calls::None, End::Refusal, "refuses everything"),
    policy("always-ask", Calls::Questions, End::Silent, "asks back, whatever is said"),
    policy("dump-all", Calls::EveryRead, End::EveryValue, "calls every read and answers with every value"),
    policy(
        "write-undo",
        Calls::WriteUndoReference,
        End::Reference(Facts::AsChecked),
        "solves, and makes and undoes a change nobody asked for",
    ),
    policy(
        "late",
        Calls::WritesLate,
        End::Reference(Facts::AsChecked),
        "ends every goal as the reference does, and makes its writes after the last end",
    ),
    policy(
        "exclude",
        Calls::ProvokeFaults,
        End::Silent,
        "calls with extreme arguments and repeats reads until something fails, to be excused",
    ),
    policy(
        "refuse-first",
        Calls::RefuseFirst,
        End::Refusal,
        "refuses each goal at once, for one reason after the other",
    ),
    policy("repeat", Calls::None, End::Request, "says the request back"),
    policy(
        "guess-values",
        Calls::Reference,
        End::GuessValues,
        "makes the right calls, and tells the first six values of the replies",
    ),
    policy(
        "guess-alternatives",
        Calls::Reference,
        End::GuessAlternatives,
        "makes the right calls, and tells three values joined by \"or\"",
    ),
    policy(
        "guess-json",
        Calls::Reference,
        End::GuessJson,
        "makes the right calls, and tells the last reply as it is",
    ),
    policy("guess-one", Calls::Reference, End::GuessOne, "makes the right calls, and says that there is one"),
    policy("guess-both", Calls::Reference, End::GuessBoth, "makes the right calls, and says \"One, both.\""),
    policy(
        "guess-refusal",
        Calls::Reference,
        End::GuessRefusal,
        "makes the right calls, and refuses for every reason at once",
    ),
    policy("guess-done", Calls::Reference, End::GuessDone, "makes the right calls, and says \"Done.\""),
    policy(
        "guess-blind",
        Calls::Search,
        End::GuessBlind,
        "makes a search, and says something that fits everything",
    ),
];

impl Policy {
    /// Returns true where the policy must not solve a task.
    #[must_use]
    pub const fn is_adversary(&self) -> bool {
        !matches!((self.calls, self.end), (Calls::Reference, End::Reference(_)))
    }

    /// Returns true where the policy cannot be built without a task of `eval`.
    #[must_use]
    pub const fn needs_task(&self) -> bool {
        !matches!(self.calls, Calls::Blind(_))
    }

    /// The agent for an episode. A policy that needs a task does nothing without one.
    #[must_use]
    pub fn agent<'a>(&'static self, privileged: Option<Privileged<'a>>) -> Box<dyn Agent + 'a> {
        Box::new(Scripted { policy: self, privileged })
    }
}

/// A policy in an episode.
struct Scripted<'a> {
    policy: &'static Policy,
    privileged: Option<Privileged<'a>>,
}

impl Agent for Scripted<'_> {
    fn act<'a>(&'a self, environment: &'a mut dyn Environment) -> EnvironmentFuture<'a, ()> {
        Box::pin(async move {
            let Policy { calls, end, .. } = *self.policy;
            match (calls, self.privileged) {
                (Calls::Blind(blind), _) => return act_blind(blind, end, environment).await,
                (_, None) => return Ok(()),
                (Calls::Reference, Some(privileged)) => {
                    return oracle::solve(privileged, environment, end).await;
                }
                (Calls::WriteUndoReference, Some(privileged)) => {
                    // Where nothing can be changed and changed back, the rest would be the reference solution.
                    return match calls::write_and_undo(privileged.world.base.world(), environment).await? {
                        true => oracle::solve(privileged, environment, end).await,
                        false => Ok(()),
                    };
                }
                (Calls::WritesLate, Some(privileged)) => {
                    return attacks::write_late(privileged, environment, end).await;
                }
                (Calls::RefuseFirst, Some(privileged)) => {
                    return attacks::refuse_first(privileged, environment).await;
                }
                (Calls::ProvokeFaults, Some(privileged)) => {
                    attacks::provoke_faults(privileged, environment).await;
                }
                (Calls::EveryRead, Some(privileged)) => {
                    calls::read_everything(privileged.world.base.world(), environment).await?;
                }
                (Calls::Questions, _) => {
                    for _ in 0..QUESTIONS {
                        environment.say(ends::QUESTION).await?;
                    }
                    return Ok(());
                }
                (Calls::Search, _) => calls::search(environment).await?,
                (Calls::None, _) => {}
            }
            for _ in 0..MAX_GOALS {
                let finish = end.finish(environment.view(), 0);
                if environment.finish(&finish).await?.over {
                    break;
                }
            }
            Ok(())
        })
    }
}

/// Ends each goal with random facts after calls that follow from the visible tools.
async fn act_blind(
    blind: Blind,
    end: End,
    environment: &mut dyn Environment,
) -> Result<(), EnvironmentError> {
    // The draws follow from the request, so that the same episode is the same again.
    let request: String = environment.view().user_turns().collect();
    let mut rng = ChaCha8Rng::from_seed(*blake3::hash(request.as_bytes()).as_bytes());
    for _ in 0..MAX_GOALS {
        let words = environment.view().user_turns().last().unwrap_or_default().to_owned();
        retrieve(environment, &words).await?;
        let all = documents(environment.view());
        for (document, arguments) in blind.calls(&all, environment.view(), &mut rng) {
            environment.call(&Call { api: document.name.clone(), arguments }).await?;
        }
        let end = end.finish_with(environment.view(), 0, &mut rng);
        let answer = match finish_schema(environment.view()) {
            Some(_) => environment.finish(&end).await,
            None => environment.say(&end.message).await,
        };
        match answer {
            Ok(answer) if !answer.over => {}
            Ok(_) | Err(EnvironmentError::Refused { .. }) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
