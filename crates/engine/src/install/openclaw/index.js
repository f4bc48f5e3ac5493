// Rethread for OpenClaw. Written by `rethread install`; `rethread uninstall openclaw` removes it, and an update overwrites it.
//
// Sends the events of a session to Rethread, and adds its context: about other sessions to the message of this turn,
// about a known fix to the result of a failed command. It never blocks a tool, and delays the agent by milliseconds,
// at most by five seconds. RETHREAD_DISABLE=1 in the environment disables it.

import { spawn } from "node:child_process";

const PROGRAM = "@BINARY@";
const EVENT_TIMEOUT_MS = 5000;
/** After a timeout, no events are sent for this long. */
const PAUSE_MS = 60000;
/** How much of an error's beginning, and of its end, is sent. */
const ERROR_CHARS = 4000;
/** How many sessions, prompts and tool calls are kept in mind. */
const MAX_KEPT = 200;
const EDITS = ["edit", "write", "apply_patch"];
const SHELLS = ["exec", "bash"];
/** Calls another tool, which has events of its own. */
const WRAPPER = "tool_call";

const isDisabled = () => !!process.env.RETHREAD_DISABLE && process.env.RETHREAD_DISABLE !== "0";
/** A run of one prompt in a process of its own, as `openclaw agent --local -m "…"`. */
const isHeadless = process.argv.includes("agent") && process.argv.includes("--local");

function attempt(use) {
	try {
		return use();
	} catch {
		return undefined;
	}
}

/** A handler that never throws or rejects: OpenClaw would block the tool. */
function guarded(handler) {
	return async (...args) => {
		try {
			return await handler(...args);
		} catch {
			return undefined;
		}
	};
}

/** Runs the hook with one event and returns its output; undefined if it times out, empty if it cannot be started. */
function run(input, timeoutMs) {
	return new Promise((resolve) => {
		let timer;
		const end = (output) => {
			clearTimeout(timer);
			resolve(output);
		};
		try {
			const child = spawn(PROGRAM, ["hook", "openclaw"], { stdio: ["pipe", "pipe", "ignore"] });
			child.on("error", () => end(""));
			let output = "";
			child.on("close", () => end(output));
			timer = setTimeout(() => {
				attempt(() => child.kill("SIGKILL"));
				// A child of the process may hold the pipes open; that must not keep OpenClaw from exiting.
				for (const pipe of [child.stdin, child.stdout]) attempt(() => pipe.destroy());
				end(undefined);
			}, timeoutMs);
			for (const pipe of [child.stdin, child.stdout]) pipe.on("error", () => {});
			child.stdout.setEncoding("utf8").on("data", (text) => (output += text));
			child.stdin.end(input);
		} catch {
			end("");
		}
	});
}

// OpenClaw loads this file several times in one process, for hooks and for results of tools: they share this state.
const shared = (globalThis[Symbol.for("rethread.openclaw")] ??= {
	pausedUntil: 0,
	// Events are sent one at a time, in order. The queue never rejects.
	queue: Promise.resolve(""),
	/** By session key, or ID if it has no key: the ID and directory of a session. */
	sessions: new Map(),
	/** By the session key of a sub-agent: the session key of the agent that started it. */
	parents: new Map(),
	/** By session and message: the context that the prompt got. A prompt may be built several times. */
	contexts: new Map(),
	/** By session and tool call: a notice from before it ran. */
	notices: new Map(),
	/** By session and tool call: whether its end was sent. */
	ended: new Map(),
	/** By session: answers to failures that could not be added to the tool's result. */
	pending: new Map(),
});
const { sessions, parents, contexts, notices, ended, pending } = shared;

const newDeadline = () => Date.now() + EVENT_TIMEOUT_MS;

/** Sends one event. Resolves to the context that Rethread answers; empty on any error or after the deadline. */
function notify(event, deadline = newDeadline()) {
	shared.queue = shared.queue.then(async () => {
		const timeoutMs = deadline - Date.now();
		if (timeoutMs <= 0 || Date.now() < shared.pausedUntil) return "";
		const input = attempt(() => JSON.stringify(event));
		if (input === undefined) return "";
		const output = await run(input, timeoutMs);
		if (output === undefined) shared.pausedUntil = Date.now() + PAUSE_MS;
		const context = output && attempt(() => JSON.parse(output).context);
		return typeof context === "string" ? context : "";
	});
	return shared.queue;
}

const joined = (...texts) => texts.filter(Boolean).join("\n\n");

/** Adds an entry and drops the oldest, so that a gateway that runs for days does not grow. Without a key, nothing is kept. */
function remember(map, key, value) {
	if (key === undefined) return;
	map.delete(key);
	map.set(key, value);
	if (map.size > MAX_KEPT) map.delete(map.keys().next().value);
}

function textOf(content) {
	if (!Array.isArray(content)) return typeof content === "string" ? content : "";
	return content.map((part) => (part?.type === "text" ? String(part.text) : "")).join("");
}

const isSubagent = (key) => parents.has(key) || /:subagent:/.test(key ?? "");

const sessionOf = ({ sessionKey, sessionId }) => sessions.get(sessionKey ?? sessionId);
const sessionIdOf = (ctx) => ctx.sessionId ?? sessionOf(ctx)?.session_id;

/** A key for a message or tool call; undefined without an ID. IDs are only unique within a session. */
function keyOf(ctx, id) {
	const sessionId = sessionIdOf(ctx);
	return sessionId && id ? JSON.stringify([sessionId, id]) : undefined;
}

/** The fields that identify a session in an event. Tools of a sub-agent belong to the session that started it. */
function fieldsOf(ctx, cwd) {
	const { sessionKey, workspaceDir } = ctx;
	const own = { session_id: sessionIdOf(ctx), cwd: workspaceDir ?? sessionOf(ctx)?.cwd ?? cwd ?? process.cwd() };
	if (!isSubagent(sessionKey)) return own;
	let root = sessionKey;
	for (let depth = 0; depth < 8 && parents.has(root); depth += 1) root = parents.get(root);
	return { ...own, session_id: sessions.get(root)?.session_id ?? own.session_id, agent_id: own.session_id };
}

/** Whether a human wrote the prompt: not a timer, another session, or OpenClaw itself. */
function isHuman({ sessionKey, trigger, inputProvenance }) {
	const origin = inputProvenance?.kind ?? "external_user";
	return !isSubagent(sessionKey) && (trigger ?? "user") === "user" && origin === "external_user";
}

/** Sends a prompt. Resolves to the context to show the model. */
async function promptContext(fields, prompt, source) {
	const deadline = newDeadline();
	const start = source ? await notify({ event: "session_start", ...fields, source }, deadline) : "";
	const answer = await notify({ event: "prompt", ...fields, prompt }, deadline);
	const waiting = pending.get(fields.session_id);
	pending.delete(fields.session_id);
	return joined(start, answer, waiting);
}

async function onPrompt(event, ctx) {
	const isNew = !sessionOf(ctx);
	const fields = fieldsOf(ctx);
	remember(sessions, ctx.sessionKey ?? ctx.sessionId, { session_id: sessionIdOf(ctx), cwd: fields.cwd });
	const prompt = event.currentUserMessage || event.prompt;
	if (!isHuman(ctx) || !fields.session_id || !prompt?.trim()) return undefined;
	const key = keyOf(ctx, event.currentUserMessageId ?? ctx.runId);
	const source = event.messages?.length ? "resume" : "startup";
	const text = contexts.get(key) ?? (await promptContext(fields, prompt, isNew ? source : undefined));
	remember(contexts, key, text);
	return text ? { prependContext: text } : undefined;
}

async function onToolStart({ toolName, params, toolCallId }, ctx) {
	// Before they run, only edits and commands that may switch the branch or commit matter.
	const isGit = SHELLS.includes(toolName) && /\bgit\b/.test(params?.command);
	if (!EDITS.includes(toolName) && !isGit) return;
	const notice = await notify({ event: "tool_start", ...fieldsOf(ctx), tool_name: toolName, tool_input: params });
	if (notice) remember(notices, keyOf(ctx, toolCallId), notice);
}

/** Sends the end of a tool call. Resolves to the context to show the model. */
async function toolEnd({ toolName, toolCallId, args, cwd, isError, result }, ctx) {
	const key = keyOf(ctx, toolCallId);
	remember(ended, key, true);
	const notice = notices.get(key);
	notices.delete(key);
	if (toolName === WRAPPER) return "";
	const { exitCode, status, error } = result?.details ?? {};
	const hasFailed = !!isError || status === "error" || (typeof exitCode === "number" && exitCode !== 0);
	if (!hasFailed && !EDITS.includes(toolName) && !SHELLS.includes(toolName)) return notice ?? "";
	const output = typeof error === "string" ? error : textOf(result?.content);
	// OpenClaw's own line would hide the line that identifies the error.
	const text = output.replace(/\n*\(Command exited with code \d+\)\s*$/, "");
	const shortened = text.length > 2 * ERROR_CHARS ? `${text.slice(0, ERROR_CHARS)}\n…\n${text.slice(-ERROR_CHARS)}` : text;
	const answer = notify({
		event: "tool_end",
		...fieldsOf(ctx, cwd),
		tool_name: toolName,
		tool_input: args,
		output_chars: text.length,
		exit_code: typeof exitCode === "number" ? exitCode : undefined,
		is_error: hasFailed && typeof exitCode !== "number",
		error: hasFailed ? shortened : undefined,
	});
	// There is only an answer for failures, so only then wait for it.
	return joined(notice, hasFailed ? await answer : "");
}

/** Changes the result of a tool before the model sees it. */
async function onToolResult(event, ctx) {
	const text = await toolEnd(event, ctx);
	if (!text) return undefined;
	const content = Array.isArray(event.result?.content) ? event.result.content : [];
	return { result: { ...event.result, content: [...content, { type: "text", text }] } };
}

/** For versions and agents that do not pass results through `onToolResult`: the next prompt brings the answer. */
async function onToolEnd({ toolName, toolCallId, params, result, error }, ctx) {
	if (ended.has(keyOf(ctx, toolCallId))) return;
	const failed = error ? { details: { error: String(error) } } : result;
	const text = await toolEnd({ toolName, toolCallId, args: params, isError: !!error, result: failed }, ctx);
	const id = sessionIdOf(ctx);
	if (text) remember(pending, id, joined(pending.get(id), text));
}

async function onTurnEnd({ messages }, ctx) {
	if (!isHuman(ctx)) return;
	const fields = fieldsOf(ctx);
	const last = messages?.filter((message) => message?.role === "assistant").pop();
	const sent = notify({ event: "turn_end", ...fields, last_assistant_message: textOf(last?.content) });
	// The process exits now, and there is no other event for that.
	if (isHeadless) await notify({ event: "session_end", ...fields, reason: "exit", mode: "run" });
	else void sent;
}

const onSessionEvent = (name) => async (event, ctx) => {
	const fields = fieldsOf({ ...ctx, sessionId: ctx.sessionId ?? event.sessionId });
	if (!fields.session_id || fields.agent_id) return;
	const reason = name === "session_end" ? (event.reason ?? "unknown") : undefined;
	if (reason) sessions.delete(ctx.sessionKey ?? fields.session_id);
	void notify({ event: name, ...fields, reason });
};

function onSubagent(event, ctx) {
	const parent = event.requesterSessionKey ?? ctx.requesterSessionKey ?? ctx.sessionKey;
	if (event.childSessionKey && parent) remember(parents, event.childSessionKey, parent);
}

function register(api) {
	if (isDisabled()) return;
	const on = (name, handler) => attempt(() => api.on(name, guarded(handler)));
	on("before_prompt_build", onPrompt);
	on("before_tool_call", onToolStart);
	on("after_tool_call", onToolEnd);
	on("agent_end", onTurnEnd);
	on("before_compaction", onSessionEvent("compacting"));
	on("after_compaction", onSessionEvent("compacted"));
	on("session_end", onSessionEvent("session_end"));
	on("subagent_spawned", onSubagent);
	attempt(() => api.registerAgentToolResultMiddleware(guarded(onToolResult), { runtimes: ["openclaw"] }));
}

export default { id: "rethread", name: "Rethread", description: "Session memory", register };
