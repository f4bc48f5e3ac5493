-- Tables keyed by agent and external id no longer refuse rows of forgotten sessions by triggers: `Batch` refuses them
-- (batch/rows.rs), so that every database behaves the same.
DROP TRIGGER card_stays_forgotten;
DROP TRIGGER lifecycle_stays_forgotten;
DROP TRIGGER session_label_stays_forgotten;
DROP TRIGGER lifecycle_event_stays_forgotten;
DROP TRIGGER hot_memory_stays_forgotten;
DROP TRIGGER watermark_stays_forgotten;
DROP TRIGGER shown_name_stays_forgotten;
DROP TRIGGER injection_stays_forgotten;
DROP TRIGGER injected_content_stays_forgotten;
DROP TRIGGER context_state_stays_forgotten;
DROP TRIGGER pending_archive_stays_forgotten;
