//! The agents of `diorama eval` by name.

use std::sync::Arc;

use clap::ValueEnum;
use diorama_llm::{Place, Sampling};
use diorama_tested::Agent;
use diorama_tested::function_calling::FunctionCalling;
use diorama_tested::mind::Mind;
use diorama_tested::planned::{Baseline, Planned};
use diorama_tested::prompted::{Prompted, Shots, Thoughts};
use diorama_tested::react::ReAct;
use diorama_tested::restgpt::executor::Parsing;
use diorama_tested::restgpt::{Planning, RestGpt};
use diorama_tested::reverse_chain::{Completion, ReverseChain};
use diorama_tested::spoilers::Spoiler;

use super::model::Connected;
use crate::evaluation::Insiders;
use crate::evaluation::adversaries::{AlwaysAsk, AlwaysRefuse, DumpAll, NoOp, Repeat, WriteUndo};
use crate::evaluation::batch::SharedModel;
use crate::evaluation::guesses::Guess;
use crate::evaluation::judge::Insider;
use crate::evaluation::oracle::Oracle;

/// The agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AgentName {
    /// Model: the plain loop over a list of tools.
    FunctionCalling,
    /// Model: thought, action and observation in turn.
    #[value(name = "react")]
    ReAct,
    /// Model: planner, API selector, caller and parser.
    #[value(name = "restgpt")]
    RestGpt,
    /// Model: from the last call backwards.
    ReverseChain,
    /// Model: the same, completing one argument after the other.
    ReverseChainOneByOne,
    /// Model: the same, in three steps: values from the request alone, an API for what is missing, the user.
    ReverseChainThreeStep,
    /// Model: a plan of nested calls in one reply.
    ZeroShot,
    /// Model: the same, with an example.
    FewShot,
    /// Model: a plan of nested calls after a chain of thought.
    ZeroShotCot,
    /// Model: the same, with an example.
    FewShotCot,
    /// Model: plans once and carries the plan out (RestGPT's executor).
    Offline,
    /// Model: describes, explains and plans again after each step (RestGPT's executor).
    Deps,
    /// Model: two trials, the second told what was wrong with the first (RestGPT's executor).
    Reflexion,
    /// Embedded: random calls and facts.
    Random,
    /// Embedded: calls with the ids from 1 on.
    EnumerateIds,
    /// Embedded: calls everything, and then what takes things back.
    SprayUndo,
    /// Embedded: the reference solution, bound to live replies.
    Oracle,
    /// Embedded: the same, with lists in the opposite order and items under other names.
    OracleReordered,
    /// Embedded: the same, with the values of a map under each other's items.
    OracleExchanged,
    /// Embedded: does nothing.
    Noop,
    /// Embedded: refuses everything.
    AlwaysRefuse,
    /// Embedded: asks back, whatever is said.
    AlwaysAsk,
    /// Embedded: calls every read and answers with every value.
    DumpAll,
    /// Embedded: solves, and makes and undoes a change nobody asked for.
    WriteUndo,
    /// Embedded: says the request back.
    Repeat,
    /// Embedded: makes the right calls, and tells the first six values of the replies.
    GuessValues,
    /// Embedded: makes the right calls, and tells three values joined by "or".
    GuessAlternatives,
    /// Embedded: makes the right calls, and tells the last reply as it is.
    GuessJson,
    /// Embedded: makes the right calls, and says that there is one.
    GuessOne,
    /// Embedded: makes the right calls, and says "One, both."
    GuessBoth,
    /// Embedded: makes the right calls, and refuses for every reason at once.
    GuessRefusal,
    /// Embedded: makes the right calls, and says "Done."
    GuessDone,
    /// Embedded: makes a search, and says something that fits everything.
    GuessBlind,
}

/// An agent, ready to be put into episodes.
pub enum Contender {
    /// One that tests the judge.
    Insider(Box<dyn Insiders>),
    /// One that never sees the task.
    Free(Free),
}

/// An agent that is built from no task.
pub enum Free {
    /// One that asks no model.
    Embedded(Arc<dyn Agent>),
    /// One that asks a model.
    Model(AgentName, Part, SharedModel, Sampling),
}

/// What is left out of RestGPT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Nothing.
    #[value(skip)]
    Nothing,
    /// The parser: the caller sees replies as they are.
    Parser,
    /// The planner: by the paper, this is ReAct with RestGPT's executor.
    Planner,
}

impl AgentName {
    /// Its name, as it is written on the command line.
    #[must_use]
    pub fn text(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Whether it asks a model.
    #[must_use]
    pub const fn asks_model(self) -> bool {
        matches!(
            self,
            Self::FunctionCalling
                | Self::ReAct
                | Self::RestGpt
                | Self::ReverseChain
                | Self::ReverseChainOneByOne
                | Self::ReverseChainThreeStep
                | Self::ZeroShot
                | Self::FewShot
                | Self::ZeroShotCot
                | Self::FewShotCot
                | Self::Offline
                | Self::Deps
                | Self::Reflexion
        )
    }

    /// Whether it must not solve a task.
    #[must_use]
    pub const fn is_adversary(self) -> bool {
        !self.asks_model() && !matches!(self, Self::Oracle | Self::OracleReordered | Self::OracleExchanged)
    }

    /// The agent; `connected` is what it asks, where it asks a model.
    #[must_use]
    pub fn contender(self, connected: Option<&Connected>, without: Part) -> Option<Contender> {
        let free = match (self, connected) {
            (_, Some(Connected { model, sampling, .. })) => {
                Free::Model(self, without, Arc::clone(model), sampling.clone())
            }
            (Self::Random, None) => Free::Embedded(Arc::new(Spoiler::Random)),
            (Self::EnumerateIds, None) => Free::Embedded(Arc::new(Spoiler::EnumerateIds)),
            (Self::SprayUndo, None) => Free::Embedded(Arc::new(Spoiler::SprayUndo)),
            (_, None) => return self.insider().map(Contender::Insider),
        };
        Some(Contender::Free(free))
    }

    fn insider(self) -> Option<Box<dyn Insiders>> {
        let insider: Box<dyn Insiders> = match self {
            Self::Oracle => Box::new(Oracle::Reference),
            Self::OracleReordered => Box::new(Oracle::Reordered),
            Self::OracleExchanged => Box::new(Oracle::Exchanged),
            Self::Noop => Box::new(NoOp),
            Self::AlwaysRefuse => Box::new(AlwaysRefuse),
            Self::AlwaysAsk => Box::new(AlwaysAsk),
            Self::DumpAll => Box::new(DumpAll),
            Self::WriteUndo => Box::new(WriteUndo),
            Self::Repeat => Box::new(Repeat),
            Self::GuessValues => Box::new(Guess::Values),
            Self::GuessAlternatives => Box::new(Guess::Alternatives),
            Self::GuessJson => Box::new(Guess::Json),
            Self::GuessOne => Box::new(Guess::One),
            Self::GuessBoth => Box::new(Guess::Both),
            Self::GuessRefusal => Box::new(Guess::Refusal),
            Self::GuessDone => Box::new(Guess::Done),
            Self::GuessBlind => Box::new(Guess::Blind),
            _ => return None,
        };
        Some(insider)
    }
}

impl Contender {
    /// The agent for one episode. Only those that test the judge look at the task.
    #[must_use]
    pub fn agent<'a>(&'a self, insider: Insider<'a>, place: Place) -> Box<dyn Agent + 'a> {
        match self {
            Self::Insider(insiders) => insiders.agent(insider),
            Self::Free(free) => free.agent(place),
        }
    }
}

impl Free {
    /// The agent for one episode.
    #[must_use]
    pub fn agent(&self, place: Place) -> Box<dyn Agent> {
        match self {
            Self::Embedded(agent) => Box::new(Arc::clone(agent)),
            Self::Model(name, without, model, sampling) => {
                let mind = Mind::new(Arc::clone(model), sampling.clone(), place);
                of_model(*name, *without, mind)
            }
        }
    }
}

fn of_model(name: AgentName, without: Part, mind: Mind) -> Box<dyn Agent> {
    let planned = |baseline| Box::new(Planned::new(mind.clone(), baseline));
    match name {
        AgentName::ReAct => Box::new(ReAct::new(mind)),
        AgentName::RestGpt => {
            let planning = if without == Part::Planner { Planning::Left } else { Planning::Planner };
            let parsing = if without == Part::Parser { Parsing::Left } else { Parsing::Parser };
            Box::new(RestGpt::new(mind, planning, parsing))
        }
        AgentName::ReverseChain => Box::new(ReverseChain::new(mind, Completion::AllAtOnce)),
        AgentName::ReverseChainOneByOne => Box::new(ReverseChain::new(mind, Completion::OneByOne)),
        AgentName::ReverseChainThreeStep => Box::new(ReverseChain::new(mind, Completion::ThreeStep)),
        AgentName::ZeroShot => Box::new(Prompted::new(mind, Shots::Zero, Thoughts::Left)),
        AgentName::FewShot => Box::new(Prompted::new(mind, Shots::Few, Thoughts::Left)),
        AgentName::ZeroShotCot => Box::new(Prompted::new(mind, Shots::Zero, Thoughts::Written)),
        AgentName::FewShotCot => Box::new(Prompted::new(mind, Shots::Few, Thoughts::Written)),
        AgentName::Offline => planned(Baseline::Offline),
        AgentName::Deps => planned(Baseline::Deps),
        AgentName::Reflexion => planned(Baseline::Reflexion),
        _ => Box::new(FunctionCalling::new(mind)),
    }
}
