//! Finds names that the user ruled out: rejected options of decisions, rejected proposals and prohibitions.

use std::collections::HashMap;

use rethread_model::{FactState, Predicate, Timestamp, Trust};

use super::names::{NameForm, name_form, words_around_name};
use super::tool_kinds::{is_same_kind, is_tool, spellings, tools_in};
use super::tool_packages::is_package_of;
use super::{Decision, normalize};

/// Words shortly before a name that show the user does not want it either.
const DENYING_WORDS: &str = "not no don't dont never without avoid stop remove removing drop dropping \
    uninstall replace replacing replaced than over of from off delete removed dropped";
/// Number of words before a name in which such a word counts.
const DENYING_DISTANCE: usize = 3;

/// Words shortly before a name that show it is to be used.
const ADOPTING_WORDS: &str = "use using add adding install installing introduce introducing switch switching migrate migrating \
    move moving go going try trying bring bringing pull pulling integrate integrating adopt adopting import importing set want need";
/// Words right before a name that show it, if the sentence asks for work.
const JOINING_WORDS: &str = "with in via on to through into onto";
/// Articles between such a word and the name.
const ARTICLES: &str = "a an the our some plain";
/// Words with which a sentence that asks for work starts, beside those above.
const ORDERS: &str = "write build implement create do make fetch call parse style cache store test validate run deploy log send render mock \
    format lint schedule queue host serve generate rewrite refactor port convert load save index search plot draw process handle publish put \
    persist keep stream push wire connect replace swap change let lets can could should shall may would i we you";
/// Words before a name that show it is only looked at.
const LOOKING_WORDS: &str = "check know understand see find whether if how where why still";
/// Words shortly after a name that show it is taken out.
const LEAVING_WORDS: &str = "out removed gone away dropped replaced";
/// Words that are skipped before the first verb.
const LEADS: &str = "ok okay so now then also and please next first well yes yeah hey maybe just instead";
/// Words after "I", "we" or "you" that express a wish.
const WISHES: &str =
    "want need should could would can will must i'd we'd like let's going decided prefer rather try might shall may";
/// Words right before an ordinary word that show it is a tool.
const TOOL_VERBS: &str = "install use using import with try up";
/// Words right after an ordinary word that is a tool.
const WORDS_AFTER_TOOLS: &str = "and for to in here as instead on please there everywhere";
/// Ends of a name that say it is ruled out everywhere.
const EVERYWHERE: [&str; 9] = [
    " in this project",
    " in the project",
    " in this repo",
    " in this codebase",
    " here",
    " anymore",
    " at all",
    " anywhere",
    " again",
];
/// Words right before a tool that turn it down.
const AGAINST_TOOL: [&str; 12] = [
    "not ",
    "no ",
    "than ",
    "over ",
    "instead of ",
    "rather than ",
    "drop ",
    "dropping ",
    "without ",
    "away from ",
    "off ",
    "replacing ",
];
/// Words right after a tool that turn it down.
const TOOL_FAULTS: [&str; 16] = [
    " is too ",
    " is overkill",
    " is slow",
    " is dead",
    " is out",
    " is abandoned",
    " can't ",
    " cannot ",
    " doesn't ",
    " wants ",
    " costs ",
    " eats ",
    " lacks ",
    " would be ",
    " isn't ",
    "'s ",
];

/// Something that the user ruled out, and the decision that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuledOut {
    /// What was ruled out.
    pub name: String,
    /// What to use instead.
    pub instead: Option<String>,
    /// The decision, rejection or prohibition.
    pub decision: Decision,
    form: Option<NameForm>,
}

impl RuledOut {
    /// Whether it is the package of that name, or one of its packages: `prisma` is also `@prisma/client`.
    pub fn is_package(&self, package: &str) -> bool {
        // An ordinary word is a package only where another one is used in its place, or if it is a known tool.
        let is_replaced = || self.instead.is_some() && self.decision.statement.to_lowercase().contains("use ");
        spellings(&self.name).iter().any(|name| is_package_of(package, name))
            && (self.form.is_some() || is_tool(&self.name) || is_replaced())
    }

    /// Whether a prompt wants to use it. Merely naming it is not enough.
    pub fn is_wanted_by(&self, prompt: &str) -> bool {
        let names = spellings(&self.name);
        // Most names do not occur in a prompt, and splitting it costs more than looking.
        let lower = prompt.to_lowercase();
        if !names.iter().any(|name| lower.contains(&name.to_lowercase())) {
            return false;
        }
        sentences(prompt).any(|sentence| names.iter().any(|name| self.is_wanted_as(name, sentence)))
    }

    fn is_wanted_as(&self, name: &str, sentence: &str) -> bool {
        let form = match self.form {
            Some(form) => form,
            None if is_tool(name) && is_used_as_tool(sentence, name) => NameForm::Distinctive,
            None => return false,
        };
        let Some((before, after)) = words_around_name(sentence, name, form) else { return false };
        if before.iter().any(|word| is_in(word, LOOKING_WORDS))
            || after.iter().take(3).any(|word| is_in(word, LEAVING_WORDS))
        {
            return false;
        }
        let near = || before.iter().rev().take(DENYING_DISTANCE);
        let joined = before.iter().rev().find(|word| !is_in(word, ARTICLES));
        let is_joined = joined.is_some_and(|word| is_in(word, JOINING_WORDS));
        let is_adopted = near().any(|word| is_in(word, ADOPTING_WORDS)) || is_joined;
        // "Switch over to X" wants it; "Y over X" does not.
        let is_denying = |at: usize, word: &String| {
            is_in(word, DENYING_WORDS)
                && !(word == "over" && before.get(at + 1).is_some_and(|next| is_in(next, "to into")))
        };
        let from = before.len().saturating_sub(DENYING_DISTANCE);
        let is_denied = before.iter().enumerate().skip(from).any(|(at, word)| is_denying(at, word));
        is_adopted && asks_for_work(&before) && !is_denied
    }
}

/// Whether the words before a name ask for work, or ask whether to do it: "add", "let's", "should we", "I want".
fn asks_for_work(before: &[String]) -> bool {
    let mut words = before.iter().skip_while(|word| is_in(word, LEADS));
    let Some(first) = words.next() else { return false };
    match first.as_str() {
        "i" | "we" | "you" => words.take(4).any(|word| is_in(word, WISHES)),
        "i'd" | "we'd" => true,
        first => is_in(first, ORDERS) || is_in(first, ADOPTING_WORDS),
    }
}

/// Whether an ordinary word stands in a sentence where a tool does.
fn is_used_as_tool(sentence: &str, name: &str) -> bool {
    let Some((before, after)) = words_around_name(sentence, name, NameForm::Distinctive) else { return false };
    before.last().is_some_and(|word| is_in(word, TOOL_VERBS))
        && after.first().is_none_or(|word| is_in(word, WORDS_AFTER_TOOLS))
}

fn is_in(word: &str, table: &str) -> bool {
    table.split_ascii_whitespace().any(|known| known == word)
}

/// The sentences of a prompt; a stop inside a name does not end one. Of a longer prompt only the first and the last line
/// count: what is between them may be pasted.
fn sentences(prompt: &str) -> impl Iterator<Item = &str> {
    let lines: Vec<&str> = prompt.lines().filter(|line| !line.trim().is_empty()).collect();
    let outer = lines.first().copied().into_iter().chain(lines.last().copied().filter(|_| lines.len() > 1));
    let ends = [". ", "? ", "! ", ", "];
    outer.flat_map(move |line| {
        let (mut parts, mut start) = (Vec::new(), 0);
        for (at, _) in line.match_indices(' ') {
            if at > start && ends.contains(&line.get(at - 1..=at).unwrap_or_default()) {
                parts.push(&line[start..at - 1]);
                start = at + 1;
            }
        }
        parts.push(&line[start..]);
        parts
    })
}

/// Everything that the user ruled out and did not take up again, newest first. Only what a human said counts.
pub fn ruled_out(decisions: &[Decision]) -> Vec<RuledOut> {
    let mut all: Vec<RuledOut> = decisions.iter().flat_map(rule_out).collect();
    if all.is_empty() {
        return all;
    }
    // When each name was last accepted.
    let mut accepted: HashMap<String, Option<Timestamp>> = HashMap::new();
    for decision in decisions.iter().filter(|decision| accepts(decision)) {
        let last = accepted.entry(normalize(&decision.subject)).or_default();
        *last = decision.valid_from.max(*last);
    }
    for one in &mut all {
        one.instead = one.instead.take().or_else(|| said_with(&one.decision, decisions));
    }
    all.retain(|one| {
        let since = one.decision.valid_to.or(one.decision.valid_from);
        // What was accepted later is taken up again.
        accepted.get(&normalize(&one.name)).is_none_or(|last| *last < since)
    });
    all
}

fn rule_out(decision: &Decision) -> Vec<RuledOut> {
    let named = named_against(decision);
    // Of tools for the same purpose that were put side by side, one was picked.
    let holds = decision.is_open() && decision.state == FactState::Confirmed && decision.trust == Trust::Human;
    let (offer, reply) = decision.statement.split_once(" → ").filter(|_| holds).unzip();
    let picked = tools_in(&decision.subject);
    // What the reply names beside the picked one may be kept: "postgres, sqlite for the tests".
    let kept = reply.map(tools_in).unwrap_or_default();
    let is_left = |tool: &String| {
        // One may extend the other, such as PostGIS and Postgres.
        let is_rival = |picked: &String| is_same_kind(picked, tool) && !has_same_start(picked, tool);
        picked.iter().any(is_rival) && !kept.contains(tool) && named.as_ref().is_none_or(|named| named.name != *tool)
    };
    let left = offer.map(tools_in).unwrap_or_default().into_iter().filter(is_left);
    let left = left.map(|name| RuledOut {
        form: name_form(&name, &decision.statement),
        name,
        instead: Some(decision.subject.clone()),
        decision: decision.clone(),
    });
    let left: Vec<RuledOut> = left.collect();
    named.into_iter().chain(left).collect()
}

fn has_same_start(one: &str, other: &str) -> bool {
    const LETTERS: usize = 5;
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
        >= LETTERS.min(one.len()).min(other.len())
}

/// The name that the user decided on in the same message as a refusal, if there is only one.
fn said_with(refusal: &Decision, decisions: &[Decision]) -> Option<String> {
    if refusal.state != FactState::Refuted || refusal.is_declined {
        return None;
    }
    let is_beside = |other: &&Decision| {
        let is_same = !other.sources.is_empty() && other.sources.first() == refusal.sources.first();
        is_same && accepts(other) && other.trust == Trust::Human && other.predicate == Predicate::Decided
    };
    let mut beside = decisions.iter().filter(is_beside);
    let only = beside.next().filter(|_| beside.next().is_none())?;
    let (refused, chosen) = (tools_in(&refusal.subject), tools_in(&only.subject));
    let is_replacement = refused.iter().any(|refused| chosen.iter().any(|chosen| is_same_kind(refused, chosen)));
    is_replacement.then(|| only.subject.clone())
}

/// What a decision or prohibition itself speaks against.
fn named_against(decision: &Decision) -> Option<RuledOut> {
    let holds = decision.is_open() && decision.state == FactState::Confirmed;
    let replaced = replaced_tool(&decision.statement).filter(|_| holds && decision.predicate == Predicate::Decided);
    let (name, instead) = match (decision.predicate, replaced) {
        (_, Some((old, new))) => (old, Some(new)),
        (Predicate::Decided, _) if holds => (alternative(decision)?, Some(decision.subject.clone())),
        (Predicate::Decided, _) if decision.state == FactState::Refuted => {
            (declined_tool(decision).unwrap_or_else(|| decision.subject.clone()), None)
        }
        (Predicate::Forbids, _) if holds => (decision.subject.clone(), decision.replacement.clone()),
        _ => return None,
    };
    let name = bare_name(&name);
    let form = name_form(&name, &decision.statement);
    // A package of the name is meant even if it is an ordinary word otherwise, but not if it is a description.
    let is_word = name.split_whitespace().count() == 1;
    let is_by_human = decision.trust == Trust::Human;
    (is_by_human && (form.is_some() || is_word)).then(|| RuledOut { name, instead, decision: decision.clone(), form })
}

/// The only tool that a declined proposal wants to use, however long the proposal is: "add Redis with a TTL of 60 s". A
/// declined design says nothing about its parts.
pub(crate) fn declined_tool(decision: &Decision) -> Option<String> {
    let subject = decision.subject.to_lowercase();
    let [tool] = &tools_in(&subject)[..] else { return None };
    let (before, _) = subject.split_once(tool.as_str())?;
    let mut words = before.split_whitespace();
    let verb = words.next().unwrap_or_default();
    let is_wanted = verb.is_empty() || is_in(verb, ADOPTING_WORDS) || is_in(verb, ARTICLES);
    let is_denied = before.split_whitespace().any(|word| is_in(word, DENYING_WORDS));
    let is_long = name_form(&decision.subject, &decision.statement).is_none() && subject != *tool;
    (is_long && is_wanted && !is_denied && !subject.ends_with(" as proposed")).then(|| tool.clone())
}

/// What was decided against: the rejected option, or the other tool of the same kind that the sentence names.
fn alternative(decision: &Decision) -> Option<String> {
    if decision.rejected_option.is_some() {
        return decision.rejected_option.clone();
    }
    let reason = decision.reason.as_deref().unwrap_or_default();
    let said = format!("{} {reason}", decision.statement.to_lowercase());
    let chosen = tools_in(&decision.subject);
    // Another tool may be used as well, or be part of the chosen one: "postgres, sqlite for the tests".
    let is_turned_down = |tool: &String| {
        AGAINST_TOOL.iter().any(|word| said.contains(&format!("{word}{tool}")))
            || TOOL_FAULTS.iter().any(|word| said.contains(&format!("{tool}{word}")))
    };
    let is_other = |tool: &String| chosen.iter().any(|chosen| is_same_kind(chosen, tool)) && is_turned_down(tool);
    tools_in(&said).into_iter().find(is_other)
}

/// The tools of "replace requests with httpx".
fn replaced_tool(statement: &str) -> Option<(String, String)> {
    let lower = statement.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| c.is_whitespace() || c == ',').collect();
    words.windows(4).find_map(|part| match part {
        ["replace" | "swap", old, "with" | "for" | "by", new] => {
            is_same_kind(old, new).then(|| ((*old).to_owned(), (*new).trim_end_matches('.').to_owned()))
        }
        _ => None,
    })
}

/// A name without the words around it that belong to the sentence.
fn bare_name(name: &str) -> String {
    let name = ["instead of ", "from "].iter().find_map(|begin| name.strip_prefix(begin)).unwrap_or(name);
    let bare = EVERYWHERE.iter().find_map(|end| name.strip_suffix(end));
    bare.unwrap_or(name).to_owned()
}

/// Whether a decision or preference accepts its subject.
fn accepts(decision: &Decision) -> bool {
    decision.state == FactState::Confirmed
        && decision.is_open()
        && matches!(decision.predicate, Predicate::Decided | Predicate::Prefers)
}

#[cfg(test)]
mod tests {
    use rethread_model::EntityKind;
    use rethread_store::FactRow;

    use super::super::decisions;
    use super::super::testing::{KnownFactExt, known_fact};
    use super::*;

    fn said(minute: i64, predicate: Predicate, subject: &str, state: FactState, sentence: &str) -> FactRow {
        let known = known_fact("a", minute, predicate, (EntityKind::Decision, subject)).state(state).detail(sentence);
        known.with(|fact| fact.trust = Trust::Human)
    }

    fn names(facts: &[FactRow]) -> Vec<(String, Option<String>)> {
        ruled_out(&decisions(facts)).into_iter().map(|one| (one.name, one.instead)).collect()
    }

    #[test]
    fn a_tool_that_is_used_as_well_is_not_ruled_out() {
        for (subject, sentence) in [
            ("postgres", "let's use postgres for production, sqlite for the tests"),
            ("timescaledb", "let's use timescaledb, it is just postgres with an extension"),
            ("react", "use react for the app, vue for the admin page"),
            ("polars", "polars for new code, keep pandas in the notebooks"),
            ("zustand", "zustand for the ui state, redux stays in the legacy admin"),
            ("playwright", "playwright for e2e, cypress component tests stay"),
            ("fastapi", "fastapi, it builds on starlette"),
        ] {
            let facts = [said(1, Predicate::Decided, subject, FactState::Confirmed, sentence)];
            assert_eq!(names(&facts), [], "{sentence}");
        }
        let facts = [said(1, Predicate::Decided, "vitest", FactState::Confirmed, "vitest it is, jest is too slow")];
        assert_eq!(names(&facts).len(), 1);
    }

    fn instead(minute: i64) -> FactRow {
        said(minute, Predicate::Decided, "ky", FactState::Confirmed, "use ky instead of axios")
            .object(EntityKind::Decision, "axios")
    }

    #[test]
    fn rejected_options_proposals_and_prohibitions_are_ruled_out() {
        // D41
        assert_eq!(names(&[instead(1)]), [("axios".to_owned(), Some("ky".to_owned()))]);
        let no_redis = said(1, Predicate::Decided, "redis", FactState::Refuted, "no redis here");
        assert_eq!(names(&[no_redis]), [("redis".to_owned(), None)]);
        let no_moment = said(1, Predicate::Forbids, "moment", FactState::Confirmed, "never use moment, use dayjs")
            .object(EntityKind::Preference, "dayjs");
        assert_eq!(names(&[no_moment]), [("moment".to_owned(), Some("dayjs".to_owned()))]);
    }

    #[test]
    fn what_was_taken_up_again_or_said_by_a_model_is_not_ruled_out() {
        let again = said(5, Predicate::Decided, "axios", FactState::Confirmed, "let's go with axios after all");
        assert_eq!(names(&[instead(1), again]), []);
        let by_agent = instead(1).with(|fact| fact.trust = Trust::Assistant);
        assert_eq!(names(&[by_agent]), []);
        let proposal = said(1, Predicate::Decided, "ky", FactState::Hypothesis, "maybe ky instead of axios")
            .object(EntityKind::Decision, "axios");
        assert_eq!(names(&[proposal]), []);
    }

    #[test]
    fn a_prompt_that_turns_it_down_itself_does_not_want_it() {
        let facts = [instead(1)];
        let all = ruled_out(&decisions(&facts));
        for (prompt, wants) in [
            ("let's add axios", true),
            ("fetch it with axios", true),
            ("remove axios from the client", false),
            ("use fetch instead of axios", false),
            ("do not use axios", false),
            ("add a taxi", false),
            ("why does the widget bundle axios?", false),
            ("a customer asks whether it works with axios", false),
            ("the docs still mention axios, clean that up", false),
            ("move the calls to axios", true),
            ("I want axios for the uploads", true),
            ("should we publish it with axios?", true),
            ("how do I use axios interceptors?", false),
            ("explain how to use axios", false),
            ("the old widget used axios", false),
            ("we use axios in the legacy app", false),
        ] {
            assert_eq!(all[0].is_wanted_by(prompt), wants, "{prompt}");
        }
    }

    #[test]
    fn the_other_tool_of_a_sentence_is_ruled_out() {
        let drizzle =
            said(1, Predicate::Decided, "drizzle", FactState::Confirmed, "drizzle, prisma's engine is too big");
        let all = ruled_out(&decisions(&[drizzle]));
        assert!(all[0].is_wanted_by("use prisma for the coupons") && all[0].is_package("@prisma/client"));
        let both = said(1, Predicate::Decided, "vite", FactState::Confirmed, "use vite and esbuild for the build");
        assert_eq!(names(&[both]), []);
        let replaced =
            said(1, Predicate::Decided, "replace", FactState::Confirmed, "replace requests with httpx, it is async")
                .object(EntityKind::Decision, "requests with httpx");
        assert_eq!(names(&[replaced]), [("requests".to_owned(), Some("httpx".to_owned()))]);
    }

    #[test]
    fn a_tool_with_an_ordinary_name_is_recognized_by_its_place() {
        let rule = said(
            1,
            Predicate::Forbids,
            "moment in this project",
            FactState::Confirmed,
            "never use moment in this project",
        );
        let all = ruled_out(&decisions(&[rule]));
        for (prompt, wants) in [
            ("install moment and format the dates", true),
            ("format the dates with moment", true),
            ("wait a moment", false),
            ("let's use the moment to clean up", false),
            ("use moment by moment updates", false),
        ] {
            assert_eq!(all[0].is_wanted_by(prompt), wants, "{prompt}");
        }
        assert!(all[0].is_package("moment") && all[0].is_package("momentjs"));
    }

    #[test]
    fn an_ordinary_word_is_only_meant_as_a_package() {
        let facts = [said(1, Predicate::Decided, "got", FactState::Confirmed, "use got instead of request")
            .object(EntityKind::Decision, "request")];
        let all = ruled_out(&decisions(&facts));
        assert!(all[0].is_package("request") && !all[0].is_wanted_by("answer the request"));
        let vague = [said(1, Predicate::Decided, "ky", FactState::Confirmed, "use ky instead of the old approach")
            .object(EntityKind::Decision, "old approach")];
        assert_eq!(names(&vague), []);
    }

    #[test]
    fn a_declined_proposal_rules_out_its_tool_however_long_it_is() {
        let name = |subject: &str| {
            let fact = said(1, Predicate::Decided, subject, FactState::Refuted, "Shall I do that?");
            names(&[fact]).pop().map(|(name, _)| name)
        };
        assert_eq!(name("add redis as a cache in front of the catalog").as_deref(), Some("redis"));
        assert_eq!(name("remove redis from the sessions of the shop"), None);
        assert_eq!(name("move the sessions from postgres to redis"), None);
        assert_eq!(name("redis cache as proposed"), None);
    }

    #[test]
    fn what_was_put_beside_the_picked_tool_is_not_used() {
        let fact =
            said(1, Predicate::Decided, "paddle", FactState::Confirmed, "Stripe or Paddle. → paddle, it handles VAT");
        assert_eq!(names(&[fact]), [("stripe".to_owned(), Some("paddle".to_owned()))]);
    }

    #[test]
    fn switching_over_to_something_wants_it() {
        let facts = [said(1, Predicate::Decided, "elasticsearch", FactState::Refuted, "no elasticsearch")];
        let ruled = &ruled_out(&decisions(&facts))[0];
        assert!(ruled.is_wanted_by("switch the search over to elasticsearch"));
        assert!(!ruled.is_wanted_by("use meilisearch over elasticsearch"));
    }
}
