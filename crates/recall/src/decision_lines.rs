//! Renders the lines injected for a decision, and for something that the user ruled out.

use rethread_model::{FactState, Predicate, Timestamp};

use crate::facts::{Decision, RuledOut};
use crate::quote::{format_age, quote_short};

/// Maximum lengths, in characters, of the sentence, the reason, and names.
const TEXT_CHARS: usize = 200;
const REASON_CHARS: usize = 140;
const NAME_CHARS: usize = 40;

/// `- [5d ago] storage: decided: "use SQLite for the index", because "…" (rethread show …)`.
pub fn decision_line(decision: &Decision, now: Timestamp) -> String {
    let verb = match decision.predicate {
        Predicate::Prefers => "the user prefers",
        Predicate::Forbids => "the user does not want this",
        _ => "decided",
    };
    line(decision, verb, now)
}

/// `- [3d ago] client: the user decided on "ky" instead of "axios": "…" (rethread show …)`.
pub fn ruled_out_line(ruled: &RuledOut, now: Timestamp) -> String {
    let name = quote_short(&ruled.name, NAME_CHARS);
    let instead = ruled.instead.as_ref().map(|instead| quote_short(instead, NAME_CHARS));
    let verb = match (ruled.decision.predicate, instead) {
        (Predicate::Forbids, Some(instead)) => format!("the user wants \"{instead}\", never \"{name}\""),
        (Predicate::Forbids, None) => format!("the user does not want \"{name}\""),
        (_, Some(instead)) => format!("the user decided on \"{instead}\" instead of \"{name}\""),
        (_, None) => format!("the user ruled out \"{name}\""),
    };
    line(&ruled.decision, &verb, now)
}

fn line(decision: &Decision, verb: &str, now: Timestamp) -> String {
    // A rejected proposal is as old as its rejection.
    let is_rejected = decision.state == FactState::Refuted;
    let closed_by = decision.closed_by.as_ref().filter(|_| is_rejected);
    let age = format_age(closed_by.map_or(decision.valid_from, |closed| closed.at), now);
    let source = closed_by.or(decision.sources.first());
    let name = source.and_then(|source| source.session_name.as_deref()).map(|name| quote_short(name, NAME_CHARS));
    let name = name.map_or_else(String::new, |name| format!(" {name}:"));
    let cited = source.map_or_else(String::new, |source| format!(" (rethread show {})", source.citation()));
    let sentence = quote_short(&decision.statement, TEXT_CHARS);
    let reason = decision.reason.as_ref().filter(|reason| !decision.states_reason(reason));
    let reason = reason.map(|reason| format!(", because \"{}\"", quote_short(reason, REASON_CHARS)));
    format!("- [{age}]{name} {verb}: \"{sentence}\"{}{cited}", reason.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use rethread_model::{EntityKind, Trust};

    use super::*;
    use crate::facts::testing::{KnownFactExt, known_fact};
    use crate::facts::{decisions, ruled_out};

    #[test]
    fn the_line_names_both_options_the_sentence_and_the_reason() {
        // D41
        let fact = known_fact("client", 0, Predicate::Decided, (EntityKind::Decision, "ky"))
            .object(EntityKind::Decision, "axios")
            .state(FactState::Confirmed)
            .detail("use ky instead of axios")
            .with(|fact| {
                fact.trust = Trust::Human;
                fact.reason = Some("axios breaks at the edge".to_owned());
            });
        let all = decisions(&[fact]);
        let now = Timestamp::from_millis(3 * 86_400_000);
        let source = all[0].sources[0].citation();
        assert_eq!(
            ruled_out_line(&ruled_out(&all)[0], now),
            format!(
                "- [3d ago] client: the user decided on \"ky\" instead of \"axios\": \"use ky instead of axios\", because \
                 \"axios breaks at the edge\" (rethread show {source})"
            )
        );
    }
}
