//! The phrases by which an ending is read.

use std::sync::LazyLock;

use crate::answer::goal::hashes;
use diorama_answers::lexicon::WordMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cue {
    /// Refuses, or gives a reason that does.
    Refusal,
    /// Something was done.
    Done,
    /// Asks for what is needed, in a question or a request.
    Ask,
    /// Asks to go on.
    Offer,
}

/// Phrases by cue, separated by `|`.
const CUES: &[(Cue, &str)] = &[
    (
        Cue::Refusal,
        "cannot | can't | could not | couldn't | unable to | not able to | wasn't able | weren't able | \
         won't be able | sorry | unfortunately | not possible | isn't possible | impossible | failed | \
         didn't go through | did not go through | was rejected | was refused | was declined | i'm afraid | \
         am afraid | apologies | apologise | apologize | didn't work | did not work | not successful | \
         unsuccessful | was not completed | regret | won't | not going to be able | refused | rejected | \
         declined | not been made | nothing was changed | nothing has been changed | no changes were made | \
         couldn't find | could not find | can't find | cannot find | didn't find | did not find | don't find | \
         do not find | not find | not found | no record | no records | doesn't exist | does not exist | \
         don't exist | do not exist | didn't exist | non-existent | nonexistent | no such | unable to find | \
         unable to locate | couldn't locate | could not locate | can't locate | cannot locate | \
         not in our system | not in the system | not in our records | not in our database | not in the database | \
         isn't in our | not listed | isn't listed | not registered | isn't registered | no match | no matches | \
         no matching | nothing matches | no results | no one named | nobody named | no one by that name | \
         nobody by that name | not exist | can't see any | cannot see any | don't see any | do not see any | \
         don't see a | do not see a | don't have a record | don't have any record | not on file | isn't on file | \
         no entry | unknown | not recognised | not recognized | isn't recognised | isn't recognized | \
         doesn't match any | does not match any | didn't match any | did not match any | there is no | \
         there's no | there are no | there isn't a | there isn't any | there aren't any | there is not a | \
         we have no | we don't have a | we don't have any | came up empty | turned up nothing | \
         returned nothing | returned no | wasn't found | weren't found | not one of our | has no | no customer | \
         no user | no account | no order | no booking | no appointment | isn't anyone | couldn't be found | \
         of that name | by that name | with that name | could not be found | cannot be found | can't be found | \
         doesn't appear to exist | does not appear to exist | doesn't seem to exist | already taken | \
         already booked | already reserved | already been booked | already been taken | already been cancelled | \
         already cancelled | already exists | already exist | already has | already have | already registered | \
         already in use | already been | already completed | already on | already in | already shipped | \
         already delivered | already paid | already enrolled | already closed | already borrowed | \
         already checked | already loaned | already returned | already a | already full | fully booked | \
         is full | are full | is taken | is booked | not available | unavailable | isn't available | \
         aren't available | no longer available | out of stock | sold out | insufficient | not enough | \
         no availability | no free | no seats | no spaces | no places | no copies | none left | no rooms | \
         conflict | conflicts | clash | clashes | overlaps | only booked | is cancelled | was cancelled | \
         has been cancelled | been cancelled | is completed | has been completed | is closed | has expired | \
         in use | occupied | exceeds the balance | exceeds your balance | exceeds the available | \
         balance is too low | too low | on loan | checked out | double-booked | double booked | not booked | \
         isn't booked | duplicate | taken | no stock | at capacity | reached its capacity | reached the limit | \
         still has | depends on | referenced by | someone else | another booking | another appointment | \
         another patient | has shipped | has already | have already | been delivered | not in a state | \
         no longer be | current status | its status is | not active | inactive | is not open | isn't open | \
         not allowed | isn't allowed | aren't allowed | not permitted | isn't permitted | no permission | \
         don't have permission | do not have permission | doesn't have permission | does not have permission | \
         permission denied | lack permission | lack the permission | not authorised | not authorized | \
         unauthorised | unauthorized | isn't authorised | isn't authorized | access denied | don't have access | \
         do not have access | no access | forbidden | belongs to another | belongs to someone | another user's | \
         someone else's | only the owner | not yours | isn't yours | only be done by | only be changed by | \
         only be cancelled by | not belong to you | doesn't belong to you | sign in | log in | signed in | \
         logged in | credentials | wrong password | wrong pin | incorrect pin | incorrect password | \
         login failed | authentication | privileges | not have the right | no authority | admin rights | \
         administrator | don't have a tool | do not have a tool | no tool | no api | don't have the ability | \
         do not have the ability | don't have a way | do not have a way | no way to | not something i can | \
         isn't something i can | not able to do that | don't support | do not support | doesn't support | \
         does not support | not supported | isn't supported | unsupported | no function | beyond what i can | \
         outside what i can | beyond my capabilities | outside my capabilities | beyond the scope | \
         outside the scope | outside of what i | not equipped | none of my tools | none of the tools | \
         none of the available | none of the functions | no option to | no feature | isn't possible through | \
         not possible through | can't be done through | cannot be done through | can't do that through | \
         not available through | lack the tools | lack a tool | don't have functionality | no functionality | \
         don't have any tool | don't have any api | don't have tools | no available tool | no available api | \
         not within my | isn't within my | not offer | doesn't offer | don't offer | not provide | \
         doesn't provide | no endpoint | not designed to | i can only | capability | don't have a function | \
         not have a function | don't have an option | i have no means | no means of | not have the tools | \
         don't have the tools | isn't a tool | not a service",
    ),
    (
        Cue::Done,
        "is booked | has been | have been | i've | i have | done | booked | confirmed | all set | \
         successfully | completed | here is | here are | here's | was created | was added | was updated",
    ),
    (
        Cue::Ask,
        "which | what | when | who | where | how many | how much | how long | could you | can you | would \
         you please | please provide | please tell | please confirm | please specify | please clarify | \
         please let me know | please share | please give | please choose | please pick | please select | \
         please send | need to know | i need your | i need the | i need a | i'll need | i will need | do \
         you mean | did you mean | do you have | let me know which | let me know what | let me know when \
         | let me know whether | tell me | may i have | may i ask | can i have | can i get | could i have \
         | could i get | one or the | is it | was it | or the | more than one | need more information | \
         need a bit more | need some more | are you referring | you're referring | clarify | your \
         preference | please enter | provide me | provide the | provide your",
    ),
    (
        Cue::Offer,
        "would you like | shall i | should i | do you want | want me to | is that ok | is that okay | is \
         this correct | is that correct | go ahead | proceed | may i proceed | anything else | what else \
         | how else | can i help | may i help | can i assist | assist you further | help you with \
         anything | interested in | what would you like to do next | how can i | would that work | does \
         that work",
    ),
];

pub(super) struct Phrase {
    pub(super) words: Vec<u64>,
    pub(super) cue: Cue,
}

pub(super) static PHRASES: LazyLock<(Vec<Phrase>, WordMap<Vec<u16>>)> = LazyLock::new(|| {
    let mut phrases: Vec<Phrase> = CUES
        .iter()
        .flat_map(|(cue, phrases)| {
            phrases.split('|').map(|phrase| Phrase { words: hashes(phrase), cue: *cue })
        })
        .filter(|phrase| !phrase.words.is_empty())
        .collect();
    phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.words.len()));
    let mut index: WordMap<Vec<u16>> = WordMap::default();
    for (position, phrase) in phrases.iter().enumerate() {
        if let Some(first) = phrase.words.first() {
            index.entry(*first).or_default().push(position as u16);
        }
    }
    (phrases, index)
});
