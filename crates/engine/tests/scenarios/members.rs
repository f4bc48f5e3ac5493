//! Members sign in to their space only, and sessions are forgotten when the space no longer keeps them.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::{
    AuditFilter, AuthorizedSpace, Engine, EngineError, MemberError, MemberLimits, NewMember, SessionListRequest,
    TokenRequest,
};
use rethread_model::{Access, Role};
use rethread_testing::{TestHome, files_below, new_space_name};

use crate::session_helpers::{ANNA, BEN, engine, work};

const DAY: i64 = 24 * 60;

fn member(name: &str, role: Role) -> NewMember {
    NewMember {
        name: name.parse().unwrap(),
        role,
        limits: MemberLimits::default(),
        token: TokenRequest { days: Some(30), scope: None },
    }
}

fn in_space(home: &TestHome, space: &str, minutes: i64) -> Engine {
    engine(home, minutes).with_space(AuthorizedSpace::operator(space.parse().unwrap()))
}

fn sessions(engine: &Engine) -> usize {
    engine.sessions().list(&SessionListRequest::default()).unwrap().len()
}

#[test]
fn a_token_opens_an_engine_in_its_space_and_is_nowhere_in_the_home() {
    let home = TestHome::new();
    work(&home, ANNA, 0, "round the discounts", false);
    home.sync();
    let name = new_space_name();
    let acme = in_space(&home, &name, 0);
    let unknown = acme.members().add_member(&member("alice", Role::Member));
    assert!(matches!(unknown, Err(EngineError::Member(MemberError::UnknownSpace(_)))));
    engine(&home, 0).members().create_space(name.parse().unwrap()).unwrap();
    let shown = acme.members().add_member(&member("alice", Role::Member)).unwrap().text.reveal();
    let secret = shown.rsplit_once('_').unwrap().1.as_bytes();
    for path in files_below(&home.path(".rethread")) {
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(secret.len()).any(|window| window == secret), "{}", path.display());
    }
    let signed_in = engine(&home, 0).members().sign_in(&shown).unwrap();
    assert!(signed_in.allows(Access::Write) && !signed_in.allows(Access::Admin));
    let hers = engine(&home, 0).with_space(signed_in.space);
    assert_eq!((sessions(&hers), sessions(&engine(&home, 0))), (0, 1), "nothing of another space is seen");
    assert!(engine(&home, 30 * DAY).members().sign_in(&shown).is_err(), "it has expired");
    acme.members().rotate(&"alice".parse().unwrap(), TokenRequest::default(), 0).unwrap();
    assert!(engine(&home, 0).members().sign_in(&shown).is_err(), "it was replaced");
}

#[test]
fn old_sessions_are_forgotten_and_the_audit_says_so() {
    let home = TestHome::new();
    work(&home, ANNA, 0, "round the discounts", false);
    work(&home, BEN, 20 * DAY, "test the cart", false);
    home.sync();
    let now = engine(&home, 40 * DAY);
    assert!(now.members().apply_retention().unwrap().forgotten.is_none(), "nothing is forgotten by default");
    now.members().set_retention(Some(30)).unwrap();
    let report = now.members().apply_retention().unwrap().forgotten.unwrap();
    assert_eq!((report.sessions.len(), report.remaining().count()), (1, 0));
    assert_eq!(report.sessions[0].external_id, ANNA);
    now.members().apply_retention().unwrap();
    home.sync();
    assert_eq!(sessions(&now), 1, "the sync does not bring it back");
    let audit = now.members().audit(&AuditFilter::default()).unwrap();
    let events: Vec<(&str, u64)> = audit.iter().map(|row| (row.event.target.as_str(), row.event.items)).collect();
    assert_eq!(events, [("retention of 30 days", 1)]);
    let report = engine(&home, 500 * DAY).members().apply_retention().unwrap();
    assert_eq!(report.audit_events, 1, "events are deleted after a year");
}

#[test]
fn retention_of_one_space_leaves_others_alone() {
    let (home, name) = (TestHome::new(), new_space_name());
    engine(&home, 0).members().create_space(name.parse().unwrap()).unwrap();
    work(&home, ANNA, 0, "round the discounts", false);
    home.sync();
    let acme = in_space(&home, &name, 0);
    acme.members().set_retention(Some(1)).unwrap();
    let later = in_space(&home, &name, 9 * DAY);
    assert!(later.members().apply_retention().unwrap().forgotten.unwrap().sessions.is_empty());
    assert_eq!(sessions(&engine(&home, 9 * DAY)), 1, "another space has its own retention");
}
