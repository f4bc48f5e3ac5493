#!/usr/bin/env python3
"""Tests of the counting rules of every agent but Claude Code and pi. Run: python3 -m unittest -v test_reference_agents"""
import json
import os
import sqlite3
import tempfile
import unittest

import reference_counts as rc


class Base(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def path(self, name):
        path = os.path.join(self.dir.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def write(self, name, content):
        """Writes JSON lines (a list), or one document (a dictionary)."""
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as f:
            lines = content if isinstance(content, list) else [content]
            f.write("".join((l if isinstance(l, str) else json.dumps(l)) + "\n" for l in lines))
        return path

    def database(self, name, script):
        path = self.path(name)
        connection = sqlite3.connect(path)
        connection.executescript(script)
        connection.commit()
        connection.close()
        return path

    def count(self):
        return {r["externalId"]: r for r in rc.count_all(rc.find_files([self.dir.name]))}

    def one(self, name, content):
        self.write(name, content)
        result, = self.count().values()
        return result

    def check(self, r, prompts, messages, calls, errors, edited, tokens=(0, 0, 0, 0)):
        got = (r["prompts"], r["messages"], r["toolCalls"], r["toolErrors"], r["filesEdited"], tuple(r["tokens"].values()))
        self.assertEqual(got, (prompts, messages, calls, errors, edited, tokens))


def meta(id_="t1", **more):
    return {"type": "session_meta", "payload": {"id": id_, "cwd": "/p", **more}}


def item(type_, **more):
    return {"type": "response_item", "payload": {"type": type_, **more}}


def event(type_, **more):
    return {"type": "event_msg", "payload": {"type": type_, **more}}


def said(role, text):
    return item("message", role=role, content=[{"type": "output_text" if role == "assistant" else "input_text", "text": text}])


def call(id_, output, name="shell", **arguments):
    return [item("function_call", name=name, call_id=id_, arguments=json.dumps(arguments)),
            item("function_call_output", call_id=id_, output=output)]


def total(input_, cached, output):
    usage = {"input_tokens": input_, "cached_input_tokens": cached, "output_tokens": output}
    return event("token_count", info={"total_token_usage": usage})


class Codex(Base):
    NAME = "rollout-1.jsonl"

    def test_events_hold_the_prompts_and_cumulative_tokens(self):
        r = self.one(self.NAME, [
            meta(), said("user", "<environment_context>x</environment_context>"), said("user", "fix it"),
            event("user_message", message="fix it"), said("assistant", "on it"), event("agent_message", message="on it"),
            *call("a", "Chunk ID: 1\nProcess exited with code 3\nOutput:\nno"),
            *call("b", "Exit code: 0\nWall time: 1\nOutput:\nExit code: 7"),
            total(100, 40, 7), total(100, 40, 7), total(150, 60, 9), "{torn", {"type": "new", "payload": {}}])
        self.check(r, 1, 4, 2, 1, 0, (90, 9, 60, 0))

    def test_items_hold_the_prompts_of_paginated_files(self):
        user = {"type": "UserMessage", "content": [{"type": "text", "text": "go"}]}
        r = self.one(self.NAME, [
            meta(), said("user", "go"), event("item_completed", item=user),
            *call("a", "apply_patch verification failed: x", cmd="apply_patch <<'P'\n*** Begin Patch\n*** Update File: a.rs\n*** End Patch\nP"),
            {"type": "token_usage_record", "payload": {"usage": {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 2}}}])
        self.check(r, 1, 2, 1, 1, 1, (6, 2, 4, 0))

    def test_without_events_the_items_of_the_user_count(self):
        r = self.one(self.NAME, [meta(), said("user", "# AGENTS.md instructions for /p"), said("user", "hello"),
                                 said("developer", "be kind"), said("assistant", "hi")])
        self.check(r, 1, 2, 0, 0, 0)

    def test_rolled_back_turns_do_not_count_but_their_tokens_do(self):
        r = self.one(self.NAME, [
            meta(), event("user_message", message="one"), said("assistant", "1"), event("user_message", message="two"),
            said("assistant", "2"), *call("x", "Exit code: 1"), total(10, 0, 1), event("thread_rolled_back", num_turns=1),
            event("user_message", message="three")])
        self.check(r, 2, 3, 0, 0, 0, (10, 1, 0, 0))

    def test_a_fork_does_not_count_the_copied_beginning(self):
        begin = [meta("t1"), event("user_message", message="one"), said("assistant", "1"), total(10, 0, 1)]
        self.write("rollout-1.jsonl", begin)
        self.write("rollout-2.jsonl", [meta("t2", forked_from_id="t1"), *begin, event("user_message", message="two"), total(15, 0, 2)])
        self.check(self.count()["t2"], 1, 1, 0, 0, 0, (5, 1, 0, 0))

    def test_tasks_of_subagents_are_not_prompts(self):
        r = self.one(self.NAME, [meta("c", source={"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}),
                                 event("user_message", message="look"), said("assistant", "done")])
        self.check(r, 0, 1, 0, 0, 0)
        self.assertEqual((r["child"], r["parent"]), (True, "p"))

    def test_bare_lines_of_the_first_versions(self):
        id_ = "11111111-1111-4111-8111-111111111111"
        r = self.one(self.NAME, [
            {"id": id_, "timestamp": "2025-06-01T00:00:00Z", "instructions": None}, {"record_type": "state"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
            {"type": "function_call", "name": "shell", "call_id": "a", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "{\"output\":\"\",\"metadata\":{\"exit_code\":1}}"}])
        self.check(r, 1, 2, 1, 1, 0)
        self.assertEqual(r["externalId"], id_)

    def test_a_failed_mcp_call_is_an_error(self):
        r = self.one(self.NAME, [meta(), event("mcp_tool_call_end", call_id="m", result={"Ok": {"isError": True}}),
                                 *call("m", "Wall time: 1\nOutput:\n[]", name="js")])
        self.check(r, 0, 1, 1, 1, 0)


class Gemini(Base):
    NAME = "chats/session-1.jsonl"
    HEAD = {"sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z", "kind": "main"}

    def user(self, id_, text, **more):
        return {"id": id_, "type": "user", "content": [{"text": text}], **more}

    def answer(self, id_, text="", calls=None, **more):
        return {"id": id_, "type": "gemini", "content": text, **({"toolCalls": calls} if calls else {}), **more}

    def test_a_later_record_replaces_the_earlier_one(self):
        shell = {"id": "c", "name": "run_shell_command", "status": "success", "args": {},
                 "result": [{"functionResponse": {"response": {"output": "Output: x\nExit Code: 3\nProcess Group"}}}]}
        edit = {"id": "d", "name": "replace", "status": "error", "args": {"file_path": "a"}}
        tokens = {"input": 100, "output": 5, "cached": 30, "thoughts": 2, "tool": 0}
        r = self.one(self.NAME, [
            self.HEAD, {"$set": {"messages": [self.user("x", "<session_context>y</session_context>")]}},
            self.user("1", "<hook_context>h</hook_context>\n\nfix"), self.answer("2", tokens=tokens),
            self.answer("2", calls=[shell, edit], tokens=tokens), {"id": "3", "type": "info", "content": "note"},
            {"id": "4", "type": "user", "content": [{"functionResponse": {}}]}])
        self.check(r, 1, 2, 2, 2, 1, (70, 7, 30, 0))

    def test_a_snapshot_adds_unknown_texts_but_no_summary(self):
        r = self.one(self.NAME, [
            self.HEAD, self.user("1", "one"), self.answer("2", "1"),
            {"$set": {"messages": [self.user("1", "one"), self.user("0", "earlier"), self.user("9", "the summary"),
                                   self.answer("8", "Got it. Thanks for the additional context!")]}}])
        self.check(r, 2, 3, 0, 0, 0)

    def test_a_rewind_undoes_what_follows(self):
        r = self.one(self.NAME, [self.HEAD, self.user("1", "one"), self.answer("2", "1", tokens={"input": 3, "output": 1}),
                                 {"$rewindTo": "1"}, self.user("3", "two")])
        self.check(r, 1, 1, 0, 0, 0, (3, 1, 0, 0))

    def test_a_document_and_lines_of_one_session_count_once(self):
        self.write("chats/session-0.json", {**self.HEAD, "messages": [self.user("1", "one"), self.answer("2", "1")]})
        self.write(self.NAME, [self.HEAD, self.user("1", "one"), self.answer("2", "1"), self.user("3", "two")])
        self.check(self.count()["s"], 2, 3, 0, 0, 0)


class OpenCode(Base):
    def message(self, role, parts, **info):
        return {"info": {"role": role, "id": "REDACTED", **info}, "parts": parts}

    def tool(self, tool, status="completed", **state):
        return {"type": "tool", "callID": "REDACTED", "tool": tool, "state": {"status": status, **state}}

    def export(self, messages, **info):
        return {"info": {"id": "ses_1", "directory": "/p", **info}, "messages": messages}

    def test_messages_and_calls_with_the_same_id_are_different_ones(self):
        text = {"type": "text", "text": "hi"}
        r = self.one("full.jsonl", self.export([
            self.message("user", [text, {"type": "text", "text": "context", "synthetic": True}]),
            self.message("assistant", [self.tool("bash", metadata={"exit": 3}), self.tool("read", "error")]),
            self.message("assistant", [self.tool("edit", input={"filePath": "a"}), text]),
            self.message("user", [{"type": "subtask", "command": "review"}]),
            self.message("user", [{"type": "text", "text": "Summarize", "synthetic": True}])]))
        self.check(r, 1, 3, 3, 2, 1)

    def test_the_total_tells_whether_the_output_includes_reasoning(self):
        inside = {"total": 110, "input": 60, "output": 10, "reasoning": 4, "cache": {"read": 40, "write": 0}}
        outside = {"total": 14, "input": 0, "output": 10, "reasoning": 4, "cache": {"read": 0, "write": 0}}
        older = {"input": 0, "output": 10, "reasoning": 4, "cache": {}}
        r = self.one("full.jsonl", self.export([self.message("assistant", [], tokens=t) for t in (inside, outside, older)]))
        self.check(r, 0, 0, 0, 0, 0, (60, 34, 40, 0))

    def test_summaries_and_reverted_messages_do_not_count(self):
        text = [{"type": "text", "text": "x"}]
        r = self.one("full.jsonl", self.export([
            self.message("user", text, id="a"), self.message("assistant", text, id="b", summary=True),
            self.message("user", text, id="c"), self.message("assistant", text, id="d")], revert={"messageID": "c"}))
        self.check(r, 1, 1, 0, 0, 0)

    def test_the_first_generation_of_the_database(self):
        self.database("opencode.db", """
            create table session (id text, parent_id text, directory text, title text, revert text);
            create table message (id text, session_id text, time_created integer, data text);
            create table part (id text, message_id text, session_id text, data text);
            create table session_message (id text, session_id text, type text, seq integer, data text);
            insert into session values ('s', null, '/p', 't', null), ('c', 's', '/p', 'sub', null);
            insert into message values ('m1', 's', 1, '{"role":"user"}'), ('m2', 's', 2, '{"role":"assistant"}'),
                                       ('m3', 'c', 3, '{"role":"user"}');
            insert into part values ('p1', 'm1', 's', '{"type":"text","text":"hi"}'), ('p2', 'm2', 's', '{"type":"text","text":"yes"}'),
                                    ('p3', 'm3', 'c', '{"type":"text","text":"task"}'), ('p4', 'm2', 's', 'torn');""")
        self.check(self.count()["s"], 1, 2, 0, 0, 0)
        self.check(self.count()["c"], 0, 0, 0, 0, 0)

    def test_the_second_generation_of_the_database(self):
        self.database("kilo.db", """
            create table session_v2 (id text, parent_id text, directory text, title text);
            create table session_message (id text, session_id text, type text, seq integer, data text);
            insert into session_v2 values ('s', null, '/p', 't');
            insert into session_message values ('1', 's', 'user', 1, '{"text":"hi"}'), ('2', 's', 'synthetic', 2, '{"text":"x"}'),
                ('3', 's', 'assistant', 3, '{"content":[{"type":"tool","name":"bash","state":{"status":"error"}}]}');""")
        r = self.count()["s"]
        self.assertEqual(r["agent"], "kilo")
        self.check(r, 1, 2, 1, 1, 0)


class Copilot(Base):
    def event(self, type_, agent=None, **data):
        return {"type": type_, "data": data, "id": type_, **({"agentId": agent} if agent else {})}

    def test_events_of_subagents_and_skills_do_not_count(self):
        usage = {"inputTokens": 100, "outputTokens": 5, "cacheReadTokens": 40}
        r = self.one("s/events.jsonl", [
            self.event("session.start", sessionId="s"), self.event("user.message", content="go"),
            self.event("user.message", content="skill", source="skill-pdf"),
            self.event("user.message", "a1", content="task", source="agent-s"),
            self.event("assistant.message", "a1", messageId="x", content="done"),
            self.event("session.usage_record", usage=usage), self.event("session.usage_record", "a1", usage=usage),
            self.event("assistant.message", messageId="m", content="", toolRequests=[
                {"toolCallId": "c", "name": "bash", "arguments": {}}, {"toolCallId": "d", "name": "edit", "arguments": {"path": "a"}}]),
            self.event("tool.execution_complete", toolCallId="c", success=True, shellExecution={"exitCode": 3}),
            self.event("tool.execution_complete", toolCallId="d", success=True)])
        self.check(r, 1, 2, 2, 1, 1, (60, 5, 40, 0))

    def test_older_versions_have_tokens_at_the_end_only(self):
        def end(n):
            return self.event("session.shutdown", modelMetrics={"m": {"usage": {"inputTokens": n, "outputTokens": 2}}})
        r = self.one("s/events.jsonl", [self.event("session.start", sessionId="s"), end(10), end(30)])
        self.check(r, 0, 0, 0, 0, 0, (30, 2, 0, 0))


class Others(Base):
    def test_droid_skips_context_and_hidden_messages_and_reads_sums(self):
        def message(id_, role, content, **more):
            return {"type": "message", "id": id_, "message": {"role": role, "content": content}, **more}
        self.write("s.settings.json", {"tokenUsage": {"inputTokens": 10, "outputTokens": 2, "cacheReadTokens": 3}})
        self.write("s.jsonl", [
            {"type": "session_start", "id": "s", "cwd": "/p"}, message("context-1", "user", [{"type": "text", "text": "tools"}]),
            message("1", "user", [{"type": "text", "text": "<system-reminder>x</system-reminder> go"}]),
            message("2", "user", [{"type": "text", "text": "limit"}], visibility="user_only"),
            message("3", "assistant", [{"type": "tool_use", "id": "c", "name": "Execute", "input": {}}]),
            message("4", "user", [{"type": "tool_result", "tool_use_id": "c", "is_error": True, "content": "Error"}])])
        self.check(self.count()["s"], 1, 2, 1, 1, 0, (10, 2, 3, 0))

    def test_cline_results_may_be_lists_or_texts(self):
        r = self.one("s.messages.json", {"version": 1, "sessionId": "s", "agent": "lead", "messages": [
            {"role": "user", "content": [{"type": "text", "text": "<user_input mode=\"act\">go</user_input>"}]},
            {"role": "user", "content": [{"type": "text", "text": "hook"}], "metadata": {"displayRole": "system"}},
            {"role": "assistant", "metrics": {"inputTokens": 10, "outputTokens": 2, "cacheReadTokens": 4}, "content": [
                {"type": "tool_use", "id": "a", "name": "run_commands", "input": {}},
                {"type": "tool_use", "id": "b", "name": "editor", "input": {"path": "x"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [{"success": False}]},
                                         {"type": "tool_result", "tool_use_id": "b", "content": "{\"success\":true}"}]}]})
        self.check(r, 1, 2, 2, 1, 1, (6, 2, 4, 0))

    def test_continue_keeps_results_beside_calls(self):
        r = self.one("s.json", {"sessionId": "s", "history": [
            {"message": {"role": "user", "content": "go"}},
            {"message": {"role": "assistant", "content": "", "toolCalls": [{"id": "a", "function": {"name": "Bash"}}]},
             "toolCallStates": [{"toolCallId": "a", "status": "errored"}]}]})
        self.check(r, 1, 2, 1, 1, 0)

    def test_qwen_takes_the_typed_text(self):
        used = {"promptTokenCount": 10, "cachedContentTokenCount": 4, "candidatesTokenCount": 3, "totalTokenCount": 13}
        r = self.one("s.jsonl", [
            {"type": "user", "uuid": "1", "sessionId": "s", "provenance": "real_user", "message": {"parts": [{"text": "go + context"}]},
             "systemPayload": {"displayText": "go"}},
            {"type": "assistant", "uuid": "2", "usageMetadata": used, "message": {"parts": [{"functionCall": {"id": "a", "name": "x"}}]}},
            {"type": "tool_result", "toolCallResult": {"callId": "a", "status": "success", "resultDisplay": {"exitCode": 3}}},
            {"type": "system", "subtype": "ui_telemetry", "provenance": "system"}])
        self.check(r, 1, 2, 1, 1, 0, (6, 3, 4, 0))
        self.assertEqual(r["promptTexts"], ["go"])

    def test_kimi_drops_copies_and_injections(self):
        text = [{"type": "text", "text": "go"}]
        r = self.one("session_1/agents/main/wire.jsonl", [
            {"type": "metadata", "protocol_version": "1.5"}, {"type": "turn.prompt", "input": text, "origin": {"kind": "user"}},
            {"type": "context.append_message", "message": {"role": "user", "content": text}},
            {"type": "agent.message.appended", "kind": "event", "message": {"role": "assistant"}},
            {"type": "context.append_loop_event", "event": {"type": "tool.call", "stepUuid": "1", "toolCallId": "a", "name": "Bash"}},
            {"type": "context.append_loop_event", "event": {"type": "tool.result", "toolCallId": "a", "result": {"isError": True}}},
            {"type": "usage.record", "usage": {"inputOther": 5, "output": 2, "inputCacheRead": 1}}])
        self.check(r, 1, 2, 1, 1, 0, (5, 2, 1, 0))
        self.assertEqual(r["externalId"], "session_1")

    def test_hermes_and_openclaw_read_exit_codes(self):
        self.database("a/state.db", """
            create table sessions (id text, source text, parent_session_id text, title text, cwd text, input_tokens integer);
            create table messages (id integer, session_id text, role text, content text, tool_call_id text, tool_calls text, active integer);
            insert into sessions values ('h', 'cli', null, null, '/p', 7);
            insert into messages values (1, 'h', 'user', 'go', null, null, 1), (2, 'h', 'user', 'taken back', null, null, 0),
                (3, 'h', 'assistant', null, null, '[{"id":"a","function":{"name":"terminal","arguments":"{}"}}]', 1),
                (4, 'h', 'tool', '{"exit_code":3}', 'a', null, 1);""")
        self.check(self.count()["h"], 1, 2, 1, 1, 0, (7, 0, 0, 0))
        call_ = {"type": "message", "message": {"role": "assistant", "content": [{"type": "toolCall", "id": "a", "name": "exec"}]}}
        result = {"type": "message", "message": {"role": "toolResult", "toolCallId": "a", "isError": False, "details": {"exitCode": 3}}}
        self.database("b/openclaw-agent.sqlite", "create table transcript_events (session_id text, seq integer, event_json text);" + "".join(
            f"insert into transcript_events values ('o', {i}, '{json.dumps(e)}');" for i, e in enumerate([call_, result])))
        self.check(self.count()["o"], 0, 1, 1, 1, 0)

    def test_foreign_files_are_skipped(self):
        self.write("notes.json", {"a": 1})
        self.write("list.json", ["[1]"])
        self.write("empty.jsonl", [])
        self.assertEqual(self.count(), {})


if __name__ == "__main__":
    unittest.main()
