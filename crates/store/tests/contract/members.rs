//! Spaces, members, tokens, sign-in and the audit.

use rethread_model::{Access, AccessScope, MemberName, Role, Space, Timestamp};
use rethread_store::{
    AuditEvent, AuditFilter, MemberError, MemberLimits, NewToken, SignInError, SignedIn, Store, TokenProblem,
    TokenTerms, TokenText,
};

use crate::backend::{in_each_space, millis};

const NOW: Timestamp = millis(1_000_000);

fn name(text: &str) -> MemberName {
    text.parse().unwrap()
}

fn scope(text: &str) -> AccessScope {
    text.parse().unwrap()
}

fn add(store: &mut Store, member: &str, role: Role) -> NewToken {
    store.add_member(&name(member), role, MemberLimits::default(), TokenTerms::default(), NOW).unwrap()
}

fn sign_in(store: &Store, token: &TokenText, now: Timestamp) -> Result<SignedIn, TokenProblem> {
    store.sign_in(token, now).map_err(|error| match error {
        SignInError::Rejected(problem) => problem,
        SignInError::Store(error) => panic!("{error}"),
    })
}

fn space(name: &str) -> Space {
    name.parse().unwrap()
}

#[test]
fn spaces_are_created_once_and_listed() {
    in_each_space(|open| {
        let (mut acme, mut other) = (open("acme"), open("other"));
        assert!(matches!(acme.require_space(), Err(MemberError::UnknownSpace(name)) if name == space("acme")));
        acme.create_space(NOW).unwrap();
        other.create_space(millis(2)).unwrap();
        assert!(matches!(acme.create_space(NOW), Err(MemberError::SpaceExists(name)) if name == space("acme")));
        let names: Vec<String> = acme.all_spaces().unwrap().into_iter().map(|row| row.space.to_string()).collect();
        assert_eq!(names, ["acme", "other"]);
        assert_eq!(other.space_row().unwrap().unwrap().created_at, millis(2));
        open("local").require_space().unwrap();
        let unknown =
            open("typo").add_member(&name("bob"), Role::Admin, MemberLimits::default(), TokenTerms::default(), NOW);
        assert!(matches!(unknown, Err(MemberError::UnknownSpace(_))));
    });
}

#[test]
fn a_token_signs_its_member_in_to_its_space_only() {
    in_each_space(|open| {
        let (mut acme, mut other) = (open("acme"), open("other"));
        acme.create_space(NOW).unwrap();
        other.create_space(NOW).unwrap();
        let token = add(&mut acme, "alice", Role::Member).text;
        let signed_in = sign_in(&acme, &token, NOW).unwrap();
        assert_eq!((signed_in.member.as_str(), signed_in.role), ("alice", Role::Member));
        assert_eq!(signed_in.space.space(), &space("acme"));
        assert_eq!(Access::ALL.map(|access| signed_in.allows(access)), [true, true, false]);
        assert_eq!(sign_in(&other, &token, NOW), Err(TokenProblem::Unknown), "the store of another space");
        let renamed = TokenText::parse(&token.reveal().replace("rt_acme_", "rt_other_")).unwrap();
        assert_eq!(sign_in(&other, &renamed, NOW), Err(TokenProblem::Unknown), "the name of another space");
        let (start, secret) = token.reveal().rsplit_once('_').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        let wrong = TokenText::parse(&format!("{start}_{}", secret.chars().rev().collect::<String>())).unwrap();
        assert_eq!(sign_in(&acme, &wrong, NOW), Err(TokenProblem::Unknown), "another secret");
        assert!(other.members().unwrap().is_empty() && other.tokens().unwrap().is_empty());
    });
}

#[test]
fn tokens_expire_and_are_revoked() {
    in_each_space(|open| {
        let mut store = open("local");
        let terms = TokenTerms { expires_at: Some(millis(2_000_000)), ..TokenTerms::default() };
        let token = store.add_member(&name("bob"), Role::Reader, MemberLimits::default(), terms, NOW).unwrap();
        assert!(sign_in(&store, &token.text, millis(1_999_999)).is_ok());
        assert_eq!(sign_in(&store, &token.text, millis(2_000_000)), Err(TokenProblem::Expired));
        store.revoke_token(&token.row.id, NOW).unwrap();
        assert_eq!(sign_in(&store, &token.text, NOW), Err(TokenProblem::Revoked));
        assert!(matches!(store.revoke_token(&token.row.id, NOW), Err(MemberError::UnknownToken(_))));
        assert!(matches!(store.revoke_token("none", NOW), Err(MemberError::UnknownToken(_))));
    });
}

#[test]
fn a_rotated_token_ends_at_once_or_after_a_grace_period() {
    in_each_space(|open| {
        let mut store = open("local");
        let bob = name("bob");
        let terms = TokenTerms { scope: Some(scope("read")), expires_at: Some(millis(1_500_000)) };
        let first = store.add_member(&bob, Role::Member, MemberLimits::default(), terms, NOW).unwrap();
        let later = millis(1_100_000);
        let second = store.rotate_tokens(&bob, TokenTerms::default(), 60_000, later).unwrap();
        assert_eq!(second.row.scope, scope("read"), "a rotation gives no more rights");
        assert_eq!(second.row.expires_at, Some(millis(1_600_000)), "nor a longer life");
        assert!(sign_in(&store, &first.text, millis(1_159_999)).is_ok());
        assert_eq!(sign_in(&store, &first.text, millis(1_160_000)), Err(TokenProblem::Expired));
        let third = store.rotate_tokens(&bob, TokenTerms::default(), 0, later).unwrap();
        for old in [&first.text, &second.text] {
            assert_eq!(sign_in(&store, old, later), Err(TokenProblem::Revoked));
        }
        assert!(sign_in(&store, &third.text, later).is_ok());
        let unknown = store.rotate_tokens(&name("nobody"), TokenTerms::default(), 0, NOW);
        assert!(matches!(unknown, Err(MemberError::UnknownMember(_))));
    });
}

#[test]
fn a_token_may_do_less_than_its_member_but_not_more() {
    in_each_space(|open| {
        let mut store = open("local");
        let mut add_scoped = |member: &str, role, text| {
            let terms = TokenTerms { scope: Some(scope(text)), expires_at: None };
            store.add_member(&name(member), role, MemberLimits::default(), terms, NOW)
        };
        let narrow = add_scoped("alice", Role::Admin, "read").unwrap();
        let refused = add_scoped("ci", Role::Service, "read,write");
        assert!(matches!(refused, Err(MemberError::ScopeExceedsRole { role: Role::Service, .. })));
        let signed_in = sign_in(&store, &narrow.text, NOW).unwrap();
        assert_eq!(Access::ALL.map(|access| signed_in.allows(access)), [true, false, false]);
        assert!(store.member(&name("ci")).unwrap().is_none(), "nothing is stored of a refused member");
        let service = add(&mut store, "ci", Role::Service);
        let signed_in = sign_in(&store, &service.text, NOW).unwrap();
        assert_eq!(Access::ALL.map(|access| signed_in.allows(access)), [false, true, false]);
    });
}

#[test]
fn revoking_a_member_revokes_all_its_tokens() {
    in_each_space(|open| {
        let mut store = open("local");
        let bob = name("bob");
        let first = add(&mut store, "bob", Role::Member);
        let second = store.rotate_tokens(&bob, TokenTerms::default(), 60_000, NOW).unwrap();
        assert!(matches!(
            store.add_member(&bob, Role::Admin, MemberLimits::default(), TokenTerms::default(), NOW),
            Err(MemberError::MemberExists(_))
        ));
        assert_eq!(store.revoke_member(&bob, NOW).unwrap(), 2);
        for token in [&first.text, &second.text] {
            assert_eq!(sign_in(&store, token, NOW), Err(TokenProblem::Revoked));
        }
        assert!(matches!(store.revoke_member(&bob, NOW), Err(MemberError::UnknownMember(_))));
        let again = add(&mut store, "bob", Role::Reader);
        assert_eq!(sign_in(&store, &again.text, NOW).unwrap().role, Role::Reader);
        assert_eq!(sign_in(&store, &first.text, NOW), Err(TokenProblem::Revoked), "old tokens stay revoked");
    });
}

#[test]
fn the_last_admin_cannot_be_revoked() {
    in_each_space(|open| {
        let mut store = open("local");
        add(&mut store, "alice", Role::Admin);
        add(&mut store, "bob", Role::Member);
        assert!(matches!(store.revoke_member(&name("alice"), NOW), Err(MemberError::LastAdmin(_))));
        add(&mut store, "carol", Role::Admin);
        store.revoke_member(&name("alice"), NOW).unwrap();
        assert!(matches!(store.revoke_member(&name("carol"), NOW), Err(MemberError::LastAdmin(_))));
    });
}

#[test]
fn limits_and_last_use_are_stored() {
    in_each_space(|open| {
        let mut store = open("local");
        let limits = MemberLimits { requests_per_minute: Some(60), ..MemberLimits::default() };
        let token = store.add_member(&name("bob"), Role::Member, limits, TokenTerms::default(), NOW).unwrap();
        assert_eq!(sign_in(&store, &token.text, NOW).unwrap().limits, limits);
        let limits = MemberLimits { requests_per_minute: None, max_body_bytes: Some(1), max_bytes_per_day: Some(2) };
        store.set_member_limits(&name("bob"), limits).unwrap();
        assert_eq!(sign_in(&store, &token.text, NOW).unwrap().limits, limits);
        for at in [5, 9, 7] {
            store.mark_tokens_used(&[(token.row.id.clone(), millis(at)), ("none".to_owned(), millis(at))]).unwrap();
        }
        assert_eq!(store.tokens().unwrap()[0].last_used_at, Some(millis(9)));
    });
}

#[test]
fn the_audit_is_read_newest_first_in_pages() {
    in_each_space(|open| {
        let (mut store, mut other) = (open("local"), open("other"));
        let event = |at, member: &str| AuditEvent {
            at: millis(at),
            member: member.parse().ok(),
            access: Access::Read,
            target: "/api/search".to_owned(),
            items: 3,
            status: 200,
        };
        store.append_audit(&[]).unwrap();
        store.append_audit(&[event(10, "alice"), event(20, "bob")]).unwrap();
        store.append_audit(&[event(30, "alice"), event(40, "")]).unwrap();
        other.append_audit(&[event(50, "alice")]).unwrap();
        let numbers =
            |filter: AuditFilter| store.audit(&filter).unwrap().into_iter().map(|row| row.number).collect::<Vec<_>>();
        assert_eq!(numbers(AuditFilter::default()), [4, 3, 2, 1]);
        assert_eq!(numbers(AuditFilter { limit: 2, ..AuditFilter::default() }), [4, 3]);
        assert_eq!(numbers(AuditFilter { limit: 2, before: Some(3), ..AuditFilter::default() }), [2, 1]);
        assert_eq!(numbers(AuditFilter { member: Some(name("alice")), ..AuditFilter::default() }), [3, 1]);
        assert_eq!(numbers(AuditFilter { since: Some(millis(20)), ..AuditFilter::default() }), [4, 3, 2]);
        assert_eq!(store.audit(&AuditFilter::default()).unwrap()[0].event, event(40, ""));
        assert_eq!(store.delete_audit_before(millis(41)).unwrap(), 4);
        store.append_audit(&[event(60, "bob")]).unwrap();
        let left: Vec<u64> = store.audit(&AuditFilter::default()).unwrap().iter().map(|row| row.number).collect();
        assert_eq!(left, [5], "numbers of deleted rows are not used again");
        assert_eq!(other.audit(&AuditFilter::default()).unwrap().len(), 1);
    });
}

#[test]
fn retention_is_stored_per_space() {
    in_each_space(|open| {
        let (mut store, mut acme) = (open("local"), open("acme"));
        assert!(matches!(acme.set_retention_days(Some(30), NOW), Err(MemberError::UnknownSpace(_))));
        acme.create_space(NOW).unwrap();
        acme.set_retention_days(Some(30), NOW).unwrap();
        store.set_retention_days(Some(90), NOW).unwrap();
        assert_eq!((store.retention_days().unwrap(), acme.retention_days().unwrap()), (Some(90), Some(30)));
        acme.set_retention_days(None, NOW).unwrap();
        assert_eq!((store.retention_days().unwrap(), acme.retention_days().unwrap()), (Some(90), None));
    });
}
