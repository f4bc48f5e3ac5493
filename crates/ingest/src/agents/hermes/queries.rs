//! How Hermes stores sessions in its database.

use crate::source::DatabaseQueries;

/// Versions add columns, so those that not every version has are looked up in a subquery: a name that the table does not
/// have means the column of the same name in `missing`.
///
/// No column has the time of a session's last change. Its whole seconds are those of the last message or the end, the
/// rest makes it change with the totals, which are updated after that.
pub(super) const STATE: DatabaseQueries = DatabaseQueries {
    applies: "SELECT 1 FROM pragma_table_info('messages') WHERE name = 'tool_calls'",
    sessions: "
        SELECT s.id, s.id AS sessionId, s.model, s.title, s.started_at AS timestamp,
            s.input_tokens, s.output_tokens, s.cache_read_tokens, s.cache_write_tokens, s.cost, s.cwd, s.branch,
            CASE WHEN s.is_subagent THEN s.parent_session_id END AS parentSessionId,
            CASE WHEN NOT s.is_subagent THEN s.parent_session_id END AS forkedFrom,
            1000 * CAST(max(coalesce((SELECT max(timestamp) FROM messages WHERE session_id = s.id), 0),
                coalesce(s.ended_at, 0), s.started_at) AS INTEGER)
                + (coalesce(s.input_tokens, 0) + coalesce(s.output_tokens, 0) + coalesce(s.cache_read_tokens, 0)
                + 7 * s.rewinds + length(coalesce(s.title, ''))) % 1000 AS updated_at
        FROM (
            SELECT base.id, base.source, base.model, base.parent_session_id, base.started_at, base.ended_at,
                base.input_tokens, base.output_tokens,
                (SELECT title FROM sessions AS own WHERE own.id = base.id) AS title,
                (SELECT cache_read_tokens FROM sessions AS own WHERE own.id = base.id) AS cache_read_tokens,
                (SELECT cache_write_tokens FROM sessions AS own WHERE own.id = base.id) AS cache_write_tokens,
                (SELECT coalesce(actual_cost_usd, estimated_cost_usd) FROM sessions AS own WHERE own.id = base.id) AS cost,
                (SELECT cwd FROM sessions AS own WHERE own.id = base.id) AS cwd,
                (SELECT git_branch FROM sessions AS own WHERE own.id = base.id) AS branch,
                (SELECT rewind_count FROM sessions AS own WHERE own.id = base.id) AS rewinds,
                base.source = 'subagent' OR CASE WHEN json_valid(base.model_config)
                    THEN json_extract(base.model_config, '$._delegate_from') IS NOT NULL ELSE 0 END AS is_subagent
            FROM (SELECT NULL AS title, NULL AS cache_read_tokens, NULL AS cache_write_tokens, NULL AS actual_cost_usd,
                NULL AS estimated_cost_usd, NULL AS cwd, NULL AS git_branch, 0 AS rewind_count) AS missing
            CROSS JOIN sessions AS base
        ) AS s",
    version: "m.id, (SELECT active = 0 AND compacted = 0 FROM messages AS own WHERE own.id = m.id)",
    columns: "m.role, m.content, m.tool_call_id, m.tool_calls, m.tool_name, m.timestamp,
        (SELECT finish_reason FROM messages AS own WHERE own.id = m.id) AS finish_reason,
        (SELECT reasoning FROM messages AS own WHERE own.id = m.id) AS reasoning,
        (SELECT active = 0 AND compacted = 0 FROM messages AS own WHERE own.id = m.id) AS rewound",
    // A session that continues another one begins with copies of the other's last messages.
    from: "FROM (SELECT 1 AS active, 0 AS compacted, NULL AS finish_reason, NULL AS reasoning) AS missing
        CROSS JOIN messages AS m
        WHERE m.session_id = ?1 AND (m.content LIKE '[CONTEXT COMPACTION%' OR m.id >= coalesce((
            SELECT min(first.id) FROM messages AS first
            WHERE first.session_id = ?1 AND coalesce(first.content, '') NOT LIKE '[CONTEXT COMPACTION%'
                AND first.role <> 'system' AND NOT EXISTS (
                    SELECT 1 FROM messages AS original
                    WHERE original.session_id = (SELECT parent_session_id FROM sessions WHERE id = ?1)
                        AND original.role = first.role AND original.content IS first.content
                        AND original.tool_call_id IS first.tool_call_id AND original.tool_calls IS first.tool_calls)
        ), 0))
        ORDER BY m.id",
    finished: "1",
};
