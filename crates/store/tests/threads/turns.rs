//! One turn at a time per thread, and what dead processes leave behind.

use std::fs;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rethread_model::thread::ChatRole;
use rethread_store::{ThreadError, lease_takeovers};

use crate::{ThreadFixture, message, on_each_backend, user};

#[test]
fn turns_run_one_at_a_time_in_order() {
    // S7.10, S004-28
    on_each_backend(|fixture| {
        let id = fixture.thread().id();
        let (speaking, order) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let tickets: Vec<_> = (0..6).map(|_| fixture.threads.enter_turn_queue(id, 5).unwrap()).collect();
        assert!(matches!(fixture.threads.enter_turn_queue(id, 5), Err(ThreadError::QueueFull { limit: 5, .. })));
        assert_eq!(tickets[5].turns_ahead(), 5);
        std::thread::scope(|scope| {
            for (number, ticket) in tickets.into_iter().enumerate().rev() {
                let (speaking, order) = (&speaking, &order);
                scope.spawn(move || {
                    let turn = ticket.wait(&|| false).unwrap().unwrap();
                    assert_eq!(speaking.fetch_add(1, Ordering::SeqCst), 0);
                    order.lock().unwrap().push(number);
                    std::thread::yield_now();
                    speaking.fetch_sub(1, Ordering::SeqCst);
                    drop(turn);
                });
            }
        });
        assert_eq!(order.into_inner().unwrap(), [0, 1, 2, 3, 4, 5]);
    });
}

#[test]
fn partial_answer_of_a_killed_process_is_handed_over() {
    // L004-10
    let fixture = ThreadFixture::new();
    let id = fixture.thread().id();
    let folder = fixture.folder.path().join("threads").join(id.to_string()).join("turns");
    let mut turn = fixture.threads.enter_turn_queue(id, 5).unwrap().wait(&|| false).unwrap().unwrap();
    turn.begin_answer("RUN", "small", 1).unwrap();
    turn.append_answer_text("half an ans").unwrap();
    let partial = fs::read(folder.join("1")).unwrap();
    assert!(!fixture.threads.has_partial_answer(id), "the running process is alive");
    drop(turn);
    // The file as a kill leaves it: present and not locked.
    fs::File::create(folder.join("1")).unwrap().write_all(&partial).unwrap();
    assert!(fixture.threads.has_partial_answer(id));
    let mut turn = fixture.threads.enter_turn_queue(id, 5).unwrap().wait(&|| false).unwrap().unwrap();
    let left = turn.partial_answers.clone();
    assert_eq!((left.len(), left[0].text.as_str(), left[0].run_id.as_str()), (1, "half an ans", "RUN"));
    turn.remove_partial_answers();
    drop(turn);
    assert!(!fixture.threads.has_partial_answer(id));
}

#[test]
fn stopped_ticket_leaves_the_queue() {
    on_each_backend(|fixture| {
        let id = fixture.thread().id();
        let first = fixture.threads.enter_turn_queue(id, 5).unwrap();
        assert!(fixture.threads.enter_turn_queue(id, 5).unwrap().wait(&|| true).unwrap().is_none());
        assert!(first.wait(&|| false).unwrap().is_some());
    });
}

#[test]
fn two_processes_contend_for_one_turn() {
    on_each_backend(|fixture| {
        let id = fixture.thread().id();
        let (first, second) = (fixture.other_process(), fixture.other_process());
        let turn = first.enter_turn_queue(id, 5).unwrap().wait(&|| false).unwrap().unwrap();
        let ticket = second.enter_turn_queue(id, 5).unwrap();
        assert_eq!((ticket.turns_ahead(), ticket.is_next()), (1, false));
        assert!(ticket.wait(&|| true).unwrap().is_none(), "the first one is still running");
        drop(turn);
        let turn = second.enter_turn_queue(id, 0).unwrap().wait(&|| false).unwrap().unwrap();
        assert!(turn.partial_answers.is_empty() && !turn.is_lost());
    });
}

#[test]
fn deleting_a_thread_ends_its_queue() {
    on_each_backend(|fixture| {
        let id = fixture.thread().id();
        let _turn = fixture.threads.enter_turn_queue(id, 5).unwrap().wait(&|| false).unwrap().unwrap();
        let waiting = fixture.threads.enter_turn_queue(id, 5).unwrap();
        fixture.threads.delete(id).unwrap();
        assert!(matches!(waiting.wait(&|| false), Err(ThreadError::Deleted { .. })));
        assert!(matches!(fixture.threads.enter_turn_queue(id, 5), Err(ThreadError::Deleted { .. })));
    });
}

#[test]
fn the_turn_of_a_dead_node_is_taken_over() {
    let fixture = ThreadFixture::in_database(None);
    let log = fixture.thread();
    let id = log.id();
    // A lease of no length is never renewed: others take its owner for dead.
    let dying = fixture.other_process().with_turn_lease(Duration::ZERO);
    let mut dead = dying.enter_turn_queue(id, 5).unwrap().wait(&|| false).unwrap().unwrap();
    dead.begin_answer("RUN", "small", 1).unwrap();
    dead.append_answer_text("half an ans").unwrap();
    let dead_log = dying.open(id).unwrap();
    dead_log.require_turn(&dead);
    assert!(dead_log.append(user("before the takeover")).is_ok(), "an expired lease is held until then");
    assert!(fixture.threads.has_partial_answer(id));
    let takeovers = lease_takeovers();
    let mut turn = fixture.threads.enter_turn_queue(id, 0).unwrap().wait(&|| false).unwrap().unwrap();
    assert!(lease_takeovers() > takeovers);
    let left = turn.partial_answers.clone();
    assert_eq!((left.len(), left[0].text.as_str(), left[0].run_id.as_str()), (1, "half an ans", "RUN"));
    log.append(message(ChatRole::Assistant, &left[0].text, 3)).unwrap();
    turn.remove_partial_answers();
    // The dead one was only slow. Its answer is in the log already.
    let answer = dead_log.append(message(ChatRole::Assistant, "half an answer", 4));
    assert!(matches!(answer, Err(ThreadError::TurnLost { .. })) && dead.is_lost());
    assert!(matches!(dead.end_answer(), Err(ThreadError::TurnLost { .. })));
    drop(dead);
    drop(turn);
    assert!(!fixture.threads.has_partial_answer(id));
    assert_eq!(fixture.seqs(id), [1, 2]);
    assert!(dead_log.append(user("without a turn")).is_ok(), "a turn that has ended requires nothing");
}

#[test]
fn a_waiting_ticket_of_a_dead_node_blocks_no_other() {
    let fixture = ThreadFixture::in_database(None);
    let id = fixture.thread().id();
    let dying = fixture.other_process().with_turn_lease(Duration::ZERO);
    let dead = dying.enter_turn_queue(id, 5).unwrap();
    let ticket = fixture.threads.enter_turn_queue(id, 0).unwrap();
    assert!(ticket.is_next());
    let turn = ticket.wait(&|| false).unwrap().unwrap();
    assert!(turn.partial_answers.is_empty());
    assert!(matches!(dead.wait(&|| false), Err(ThreadError::TurnLost { .. })), "its place is gone");
}

#[test]
fn a_running_lease_is_not_taken_over() {
    let fixture = ThreadFixture::in_database(None);
    let id = fixture.thread().id();
    let other = fixture.other_process().with_turn_lease(Duration::from_hours(1));
    let turn = other.enter_turn_queue(id, 5).unwrap().wait(&|| false).unwrap().unwrap();
    assert!(!fixture.threads.has_partial_answer(id));
    assert!(matches!(fixture.threads.enter_turn_queue(id, 0), Err(ThreadError::QueueFull { .. })));
    assert!(!turn.is_lost());
}
