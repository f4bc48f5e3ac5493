//! Text output for terminals: pure functions from engine results to sanitized text.

mod admin;
mod ask;
mod bars;
mod card;
mod chart;
mod decisions;
mod enrich;
mod facts;
mod failure;
mod files;
mod fix;
mod forget;
mod format;
mod graph;
mod health;
mod highlight;
mod highlighted_diff;
mod index;
mod original;
mod project_names;
mod redactions;
mod reduction;
mod resume;
mod sanitize;
mod search;
mod serve;
mod session_events;
mod sessions;
mod show;
mod status;
mod store;
mod sync;
mod syntax;
mod table;
mod text_page;
mod thread;
mod timeline;
mod usage;
mod usage_rows;
mod workflows;
mod wrap;

pub(crate) use admin::{audit, members, spaces, tokens};
pub(crate) use ask::{answer, ask_plan, model_and_cost, project_answer, project_ask_plan, project_model_and_cost};
pub(crate) use card::{card, card_plan, cost};
pub(crate) use chart::{BarChart, ChartBar, usage_bars, usage_chart};
pub(crate) use decisions::{decisions, file_rules};
pub(crate) use enrich::{
    enrichment_estimates, enrichment_failures, enrichment_plan, enrichment_report, enrichment_summary,
};
pub(crate) use facts::{entity_facts, entity_table};
pub(crate) use failure::failure;
pub(crate) use files::file_history;
pub(crate) use fix::{command_label, fix, no_fix_message, sessions_with_error};
pub(crate) use forget::forget_report;
pub(crate) use format::{age, bytes, count, duration, local_time, number, reduction_percent, short_number, time_range};
pub(crate) use graph::{dot, edge_label, svg};
pub(crate) use health::{diagnosis, verify_report};
pub(crate) use highlighted_diff::{code_line, highlighted_rows};
pub(crate) use index::{index_failed, index_rebuilt, index_report};
pub(crate) use original::{CallDetail, FoldedText, LogOriginals, MAX_ROW_CHARS, SHOWN_DIFF_ROWS, about_diff};
pub(crate) use project_names::{path_separators, project_names};
pub(crate) use redactions::redaction_summary;
pub(crate) use reduction::reduction_table;
pub(crate) use resume::{
    PICKER_ROWS, command_summary, is_named_like, numbered_sessions, powershell_resume_command, resume_command,
};
pub(crate) use sanitize::sanitize;
pub(crate) use search::{SearchView, kind_label, search, search_by_session, search_summary, unsynced_transcripts};
pub(crate) use serve::server_address;
pub(crate) use session_events::session_events;
pub(crate) use sessions::{
    duration_millis, picker_lines, project_name, session_label, session_rows, sessions, sorted_sessions,
};
pub(crate) use show::{
    LogView, author_label, describe_state, error_text, outcome_text, relative_path, show, state_name,
};
pub(crate) use status::status;
pub(crate) use store::store_copy;
pub(crate) use sync::{carried_over, embedding_failure, embedding_report, sync_plan, sync_report, warnings};
pub(crate) use syntax::SyntaxKind;
pub(crate) use table::{Separator, separated};
pub(crate) use text_page::{CellAlign, TextPage, Tone, sanitize_line, truncate_to_width};
pub(crate) use thread::{compaction_note, compaction_summary, queue_position, send_plan, thread_context, threads};
pub(crate) use timeline::timeline;
pub(crate) use usage::{UsageMeasure, budget_limits, ledger_cost, money, usage, usage_measure};
pub(crate) use usage_rows::usage_rows;
pub(crate) use workflows::workflows;
pub(crate) use wrap::wrap;

/// Maximum width of running text in columns; wider lines are hard to read.
const MAX_TEXT_WIDTH: usize = 110;
