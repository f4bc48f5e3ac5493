// Rethread for pi. Written by `rethread install`; `rethread uninstall pi` removes it, and an update overwrites it.
//
// Sends the events of this session to Rethread, and adds its context about other sessions of the project and about
// @@ references as a message of type "session-update". It never blocks a tool, and delays pi by milliseconds, at most
// by five seconds.
// It registers the tool query_session, which answers questions about other sessions; two commands: one writes this
// session's card, /handoff starts a new session; and completion for @@. RETHREAD_DISABLE=1 in the environment disables all of it.

import { spawn } from "node:child_process";

const PROGRAM = "@BINARY@";
/** Copied from Rethread's configuration on install. */
const COMMAND = "@COMMAND@";
const STATUS_KEY = "@STATUS@";
const STATUS_MS = Number("@CLEAR@");
/** Timeout for commands that may call a model. */
const MODEL_TIMEOUT_MS = 120000;
const EVENT_TIMEOUT_MS = 5000;
/** After a timeout, no events are sent for this long. */
const PAUSE_MS = 60000;
let pausedUntil = 0;
/** Tools that change files or may do so. */
const CHANGING = ["edit", "write", "bash"];

/** Returns the result of `use`, or undefined if it throws, as pi does when `pi` or `ctx` of a replaced session is used. */
function attempt(use) {
	try {
		return use();
	} catch {
		return undefined;
	}
}

/** A handler that never throws or rejects: pi shows such an error to the user, blocks the tool, or exits. */
function guarded(handler) {
	return async (...args) => {
		try {
			return await handler(...args);
		} catch {
			return undefined;
		}
	};
}

/** What identifies a session. Read at once, because `ctx` must not be used after its session was replaced. */
function sessionOf(ctx) {
	const { sessionManager, cwd } = ctx;
	return { session_id: sessionManager.getSessionId(), session_file: sessionManager.getSessionFile(), cwd };
}

/** Runs Rethread and returns its output; undefined if it cannot be started or times out. */
function run(args, timeoutMs, input = "", cwd = undefined, signal = undefined) {
	return new Promise((resolve) => {
		let timer;
		let stop = () => {};
		const end = (output) => {
			clearTimeout(timer);
			attempt(() => signal?.removeEventListener("abort", stop));
			resolve(output);
		};
		try {
			const child = spawn(PROGRAM, args, { stdio: ["pipe", "pipe", "ignore"], cwd });
			child.on("error", () => end(undefined));
			let output = "";
			child.on("close", () => end(output));
			stop = () => {
				attempt(() => child.kill("SIGKILL"));
				// A child of the process may hold the pipes open; that must not keep pi from exiting.
				for (const pipe of [child.stdin, child.stdout]) attempt(() => pipe.destroy());
				end(undefined);
			};
			timer = setTimeout(stop, timeoutMs);
			signal?.addEventListener("abort", stop);
			for (const pipe of [child.stdin, child.stdout]) pipe.on("error", () => {});
			child.stdout.setEncoding("utf8").on("data", (text) => (output += text));
			child.stdin.end(input);
		} catch {
			end(undefined);
		}
	});
}

/** Sends one event to Rethread. Returns its answer; empty on any error or timeout. */
async function sendEvent(event, timeoutMs) {
	if (timeoutMs <= 0 || Date.now() < pausedUntil) return {};
	const input = attempt(() => JSON.stringify(event));
	if (input === undefined) return {};
	const output = await run(["hook", "pi"], timeoutMs, input);
	if (output === undefined) pausedUntil = Date.now() + PAUSE_MS;
	return (output && attempt(() => parseAnswer(output))) || {};
}

/** `message` is added to the conversation; `name` is the session's name on its card. */
function parseAnswer(output) {
	const { customType, content, name } = JSON.parse(output);
	const message = typeof content === "string" ? { customType, content } : undefined;
	return { message, name: typeof name === "string" ? name : undefined };
}

/** Runs a Rethread command and returns its JSON; throws the error it reports. */
async function runJson([verb, ...args], cwd, timeoutMs = MODEL_TIMEOUT_MS, signal = undefined) {
	const output = await run([verb, "--json", ...args], timeoutMs, "", cwd, signal);
	if (!output) throw new Error("Rethread could not be started, was stopped, or timed out.");
	const result = JSON.parse(output);
	const { error } = result;
	if (error) throw new Error(`${error.code}: ${error.message}${error.hint ? ` (${error.hint})` : ""}`);
	return result;
}

/** The text of a message or tool result. */
function textOf(content) {
	if (!Array.isArray(content)) return typeof content === "string" ? content : "";
	return content.map((part) => (part?.type === "text" ? String(part.text) : "")).join("");
}

/** Completes @@ with sessions of this project, newest first. */
function referenceCompletion(current, { session_id, cwd }) {
	let cache = { at: 0, items: [] };
	const sessions = async () => {
		if (Date.now() - cache.at > 5000) {
			const listed = await runJson(["sessions", "--limit", "50"], cwd, EVENT_TIMEOUT_MS);
			const others = listed.sessions.filter((session) => session.externalId !== session_id);
			const item = (session) => ({
				value: `@@${session.id}`,
				label: session.alias ?? session.name ?? session.id,
				description: `${String(session.lastActivityAt ?? "").slice(0, 16).replace("T", " ")} ${session.agent}`,
			});
			cache = { at: Date.now(), items: others.map(item) };
		}
		return cache.items;
	};
	const matching = guarded(async (typed) => {
		const query = typed.toLowerCase();
		return (await sessions()).filter((item) => `${item.value} ${item.label}`.toLowerCase().includes(query));
	});
	return {
		triggerCharacters: [...(current.triggerCharacters ?? []), "@"],
		async getSuggestions(lines, line, column, options) {
			const typed = /(?:^|[\s(])(@@([^\s@]*))$/.exec(lines[line]?.slice(0, column) ?? "");
			if (!typed) return current.getSuggestions(lines, line, column, options);
			const items = await matching(typed[2]);
			return items?.length ? { items, prefix: typed[1] } : null;
		},
		applyCompletion(lines, line, column, item, prefix) {
			if (!prefix.startsWith("@@")) return current.applyCompletion(lines, line, column, item, prefix);
			const text = lines[line];
			const before = text.slice(0, column - prefix.length) + item.value;
			const after = [...lines.slice(0, line), before + text.slice(column), ...lines.slice(line + 1)];
			return { lines: after, cursorLine: line, cursorCol: before.length };
		},
		shouldTriggerFileCompletion: (...args) => current.shouldTriggerFileCompletion?.(...args) ?? true,
	};
}

// Plain JavaScript without types of pi: works with every version of pi, needs no package and runs in any Node.
export default function (pi) {
	if (process.env.RETHREAD_DISABLE && process.env.RETHREAD_DISABLE !== "0") return;
	const on = (event, handler) => pi.on(event, guarded(handler));

	// Events are sent one at a time, in order. The queue never rejects.
	let queue = Promise.resolve({});
	const notify = (event, ctx, more) => {
		const session = sessionOf(ctx);
		const deadline = Date.now() + EVENT_TIMEOUT_MS;
		queue = queue.then(() => sendEvent({ event, ...session, ...more }, deadline - Date.now()));
		return queue;
	};
	// The message reaches the model with the tool's result.
	const steer = ({ message }) => message && attempt(() => pi.sendMessage({ ...message, display: true }, { deliverAs: "steer" }));

	// Turns are counted per process: a reopened session starts a new turn.
	const processId = `${process.pid}-${Date.now()}`;
	let turns = 0;
	/** Clears the status line; stopped when the session ends, because `ctx` is stale then. */
	let statusTimer;

	on("session_start", (e, ctx) => {
		void notify("session_start", ctx, { reason: e.reason });
		const session = sessionOf(ctx);
		ctx.ui?.addAutocompleteProvider?.((current) => referenceCompletion(current, session));
	});

	on("before_agent_start", async (e, ctx) => {
		turns += 1;
		const isUnnamed = !ctx.sessionManager.getSessionName?.();
		const { message, name } = await notify("before_agent_start", ctx, { prompt: e.prompt, message_type: e.messageType });
		if (name && isUnnamed) attempt(() => pi.setSessionName?.(name));
		return message && { message: { ...message, display: true } };
	});

	on("tool_call", async (e, ctx) => {
		if (!CHANGING.includes(e.toolName)) return;
		// Before they run, only commands that may switch the branch or commit matter.
		if (e.toolName === "bash" && !/\bgit\b/.test(e.input?.command)) return;
		steer(await notify("tool_call", ctx, { tool_name: e.toolName, tool_input: e.input }));
	});

	on("tool_result", async (e, ctx) => {
		if (!CHANGING.includes(e.toolName)) return;
		const output = textOf(e.content);
		const result = { is_error: !!e.isError, error: e.isError ? output : undefined, output_chars: output.length };
		const answer = notify("tool_result", ctx, { tool_name: e.toolName, tool_input: e.input, ...result });
		// There is only an answer for failures, so only then wait for it.
		if (e.isError) steer(await answer);
	});

	on("agent_end", (e, ctx) => {
		const last = e.messages?.filter((message) => message?.role === "assistant").pop();
		void notify("agent_end", ctx, { last_assistant_message: textOf(last?.content) });
	});

	on("session_before_compact", (_, ctx) => void notify("session_before_compact", ctx, {}));
	on("session_compact", (_, ctx) => void notify("session_compact", ctx, {}));

	// Waits, so that queued events are not lost when pi exits.
	on("session_shutdown", async (e, ctx) => {
		clearTimeout(statusTimer);
		await notify("session_shutdown", ctx, { reason: e.reason, mode: ctx.mode });
	});

	const description =
		"Answers one focused question about another coding session of this user, with citations. " +
		"Name the session by its id or exact name, as in an @@reference; do not guess.";
	const text = (description) => ({ type: "string", description });
	pi.registerTool({
		name: "query_session",
		label: "Query session",
		description,
		parameters: {
			type: "object",
			properties: { session: text("Id or exact name of the session"), question: text("One focused question") },
			required: ["session", "question"],
		},
		async execute(_id, params, signal, _update, ctx) {
			const { session_id, cwd } = sessionOf(ctx);
			const turn = `${session_id}:${processId}:${turns}`;
			const args = ["ask", "--turn", turn, "--", String(params.session), String(params.question)];
			const result = await runJson(args, cwd, MODEL_TIMEOUT_MS, signal);
			const { answerMarkdown, confidence, extractive, notes } = result;
			const citations = result.citations.map((one) => `- ${one.citation}: ${one.excerpt}`);
			const text = extractive ? [answerMarkdown] : [answerMarkdown, `Confidence: ${confidence}`, ...citations];
			return { content: [{ type: "text", text: [...text, ...notes].join("\n") }], details: result };
		},
	});

	/** Shows a result in the status line for a while, and as a notice. */
	const report = (ctx, text, kind) =>
		attempt(() => {
			ctx.ui.setStatus(STATUS_KEY, text);
			ctx.ui.notify(text, kind);
			clearTimeout(statusTimer);
			if (STATUS_MS <= 0) return;
			statusTimer = setTimeout(() => attempt(() => ctx.ui.setStatus(STATUS_KEY, undefined)), STATUS_MS);
			statusTimer.unref();
		});

	/** Registers a command. It starts when pi is idle, and shows its error instead of throwing it. */
	const command = (name, description, handler) => {
		const reported = async (_, ctx) => {
			const session = sessionOf(ctx);
			await ctx.waitForIdle();
			await queue;
			await handler(ctx, session).catch((error) => report(ctx, `${name}: ${error?.message ?? error}`, "warning"));
		};
		pi.registerCommand(name, { description, handler: guarded(reported) });
	};

	command(COMMAND, "Write this session's card now: name, description, summary, tags", async (ctx, { session_id, cwd }) => {
		const before = await runJson(["card", session_id], cwd);
		const { name, refresh } = await runJson(["card", session_id, "--refresh", "--force"], cwd);
		if (refresh?.outcome !== "made") throw new Error(`no new card: ${refresh?.reason ?? refresh?.outcome}`);
		// A name that the user gave stays; the name of an earlier card is replaced.
		const shown = ctx.sessionManager.getSessionName?.();
		if (!shown || (before.model && shown === before.name)) pi.setSessionName?.(name);
		const cost = refresh.costUsd == null ? "" : ` ($${refresh.costUsd.toFixed(refresh.costUsd < 0.01 ? 6 : 4)})`;
		report(ctx, `card written: ${name}${cost}`, "info");
	});

	command("handoff", "Continue in a new session, with a handoff note in the editor (not sent)", async (ctx, session) => {
		const { markdown } = await runJson(["handoff", session.session_id], session.cwd);
		const withSession = async (next) => attempt(() => next.ui.setEditorText(markdown));
		await ctx.newSession({ parentSession: session.session_file, withSession });
	});
}
