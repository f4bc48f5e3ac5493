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

type Message = { customType: string; content: string };

/** Runs Rethread and returns its output; undefined if it cannot be started or times out. */
function run(args: string[], timeoutMs: number, input = "", cwd?: string, signal?: AbortSignal): Promise<string | undefined> {
	return new Promise((resolve) => {
		try {
			const child = spawn(PROGRAM, args, { stdio: ["pipe", "pipe", "ignore"], cwd });
			const end = (output: string | undefined) => {
				clearTimeout(timer);
				signal?.removeEventListener("abort", stop);
				resolve(output);
			};
			const stop = () => {
				child.kill("SIGKILL");
				// A child of the process may hold the pipes open; that must not keep pi from exiting.
				for (const pipe of [child.stdin, child.stdout]) pipe.destroy();
				end(undefined);
			};
			const timer = setTimeout(stop, timeoutMs);
			signal?.addEventListener("abort", stop);
			let output = "";
			child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
			for (const pipe of [child.stdin, child.stdout]) pipe.on("error", () => {});
			child.on("error", () => end(undefined));
			child.on("close", () => end(output));
			child.stdin.end(input);
		} catch {
			resolve(undefined);
		}
	});
}

/** Sends one event to Rethread. Returns its answer; undefined on any error or timeout. */
async function sendEvent(event: object, timeoutMs: number): Promise<Message | undefined> {
	if (timeoutMs <= 0 || Date.now() < pausedUntil) return undefined;
	const output = await run(["hook", "pi"], timeoutMs, JSON.stringify(event));
	if (output === undefined) pausedUntil = Date.now() + PAUSE_MS;
	return output ? parseMessage(output) : undefined;
}

/** Runs a Rethread command and returns its JSON; throws the error it reports. */
async function runJson([verb, ...args]: string[], ctx: any, timeoutMs = MODEL_TIMEOUT_MS, signal?: AbortSignal): Promise<any> {
	const output = await run([verb, "--json", ...args], timeoutMs, "", ctx?.cwd, signal);
	if (!output) throw new Error("Rethread could not be started, was stopped, or timed out.");
	const result = JSON.parse(output);
	const { error } = result;
	if (error) throw new Error(`${error.code}: ${error.message}${error.hint ? ` (${error.hint})` : ""}`);
	return result;
}

function parseMessage(output: string): Message | undefined {
	try {
		const { customType, content } = JSON.parse(output);
		return typeof content === "string" ? { customType, content } : undefined;
	} catch {
		return undefined;
	}
}

/** The text of a message or tool result. */
function textOf(content: any): string {
	if (!Array.isArray(content)) return typeof content === "string" ? content : "";
	return content.map((part: any) => (part?.type === "text" ? String(part.text) : "")).join("");
}

/** Completes @@ with sessions of this project, newest first. */
function referenceCompletion(current: any, ctx: any): any {
	let cache: { at: number; items: any[] } = { at: 0, items: [] };
	const sessions = async () => {
		if (Date.now() - cache.at > 5000) {
			const own = ctx.sessionManager.getSessionId();
			const listed = await runJson(["sessions", "--limit", "50"], ctx, EVENT_TIMEOUT_MS).catch(() => undefined);
			const others = listed?.sessions?.filter((session: any) => session.externalId !== own) ?? [];
			const item = (session: any) => ({
				value: `@@${session.id}`,
				label: session.alias ?? session.name ?? session.id,
				description: `${String(session.lastActivityAt ?? "").slice(0, 16).replace("T", " ")} ${session.agent}`,
			});
			cache = { at: Date.now(), items: others.map(item) };
		}
		return cache.items;
	};
	return {
		triggerCharacters: [...(current.triggerCharacters ?? []), "@"],
		async getSuggestions(lines: string[], line: number, column: number, options: any) {
			const typed = /(?:^|[\s(])(@@([^\s@]*))$/.exec(lines[line]?.slice(0, column) ?? "");
			if (!typed) return current.getSuggestions(lines, line, column, options);
			const query = typed[2].toLowerCase();
			const matches = (item: any) => `${item.value} ${item.label}`.toLowerCase().includes(query);
			const items = (await sessions()).filter(matches);
			return items.length ? { items, prefix: typed[1] } : null;
		},
		applyCompletion(lines: string[], line: number, column: number, item: any, prefix: string) {
			if (!prefix.startsWith("@@")) return current.applyCompletion(lines, line, column, item, prefix);
			const text = lines[line];
			const before = text.slice(0, column - prefix.length) + item.value;
			const after = [...lines.slice(0, line), before + text.slice(column), ...lines.slice(line + 1)];
			return { lines: after, cursorLine: line, cursorCol: before.length };
		},
		shouldTriggerFileCompletion: (...args: any[]) => current.shouldTriggerFileCompletion?.(...args) ?? true,
	};
}

// Uses no pi types, so that it works with every version of pi and needs no package.
export default function (pi: any) {
	// Events are sent one at a time, in order.
	let queue: Promise<Message | undefined> = Promise.resolve(undefined);

	const notify = (event: string, ctx: any, more: object): Promise<Message | undefined> => {
		try {
			const { sessionManager, cwd } = ctx;
			const session = { session_id: sessionManager.getSessionId(), session_file: sessionManager.getSessionFile() };
			const deadline = Date.now() + EVENT_TIMEOUT_MS;
			queue = queue.then(() => sendEvent({ event, ...session, cwd, ...more }, deadline - Date.now()));
			return queue;
		} catch {
			return Promise.resolve(undefined);
		}
	};

	// Turns are counted per process: a reopened session starts a new turn.
	const processId = `${process.pid}-${Date.now()}`;
	let turns = 0;

	pi.on("session_start", (e: any, ctx: any) => {
		void notify("session_start", ctx, { reason: e.reason });
		try {
			ctx.ui?.addAutocompleteProvider?.((current: any) => referenceCompletion(current, ctx));
		} catch {}
	});

	pi.on("before_agent_start", async (e: any, ctx: any) => {
		turns += 1;
		const message = await notify("before_agent_start", ctx, { prompt: e.prompt, message_type: e.messageType });
		return message && { message: { ...message, display: true } };
	});

	pi.on("tool_call", async (e: any, ctx: any) => {
		if (!CHANGING.includes(e.toolName)) return;
		// Before they run, only commands that may switch the branch matter.
		if (e.toolName === "bash" && !/\bgit\b/.test(e.input?.command)) return;
		const message = await notify("tool_call", ctx, { tool_name: e.toolName, tool_input: e.input });
		try {
			// It reaches the model with this tool's result; an error here would block the tool.
			if (message) pi.sendMessage({ ...message, display: true }, { deliverAs: "steer" });
		} catch {}
	});

	pi.on("tool_result", async (e: any, ctx: any) => {
		if (!CHANGING.includes(e.toolName)) return;
		const output = textOf(e.content);
		const result = { is_error: !!e.isError, error: e.isError ? output : undefined, output_chars: output.length };
		const answer = notify("tool_result", ctx, { tool_name: e.toolName, tool_input: e.input, ...result });
		// There is only an answer for failures, so only then wait for it.
		if (!e.isError) return;
		const message = await answer;
		try {
			if (message) pi.sendMessage({ ...message, display: true }, { deliverAs: "steer" });
		} catch {}
	});

	pi.on("agent_end", (e: any, ctx: any) => {
		const last = e.messages?.filter((message: any) => message?.role === "assistant").pop();
		void notify("agent_end", ctx, { last_assistant_message: textOf(last?.content) });
	});

	pi.on("session_before_compact", (_: any, ctx: any) => void notify("session_before_compact", ctx, {}));
	pi.on("session_compact", (_: any, ctx: any) => void notify("session_compact", ctx, {}));

	// Waits, so that queued events are not lost when pi exits.
	pi.on("session_shutdown", async (e: any, ctx: any) => {
		await notify("session_shutdown", ctx, { reason: e.reason });
	});

	if (process.env.RETHREAD_DISABLE && process.env.RETHREAD_DISABLE !== "0") return;

	pi.registerTool({
		name: "query_session",
		label: "Query session",
		description:
			"Answers one focused question about another coding session of this user, with citations. " +
			"Name the session by its id or exact name, as in an @@reference; do not guess.",
		parameters: {
			type: "object",
			properties: {
				session: { type: "string", description: "Id or exact name of the session" },
				question: { type: "string", description: "One focused question" },
			},
			required: ["session", "question"],
		},
		async execute(_id: string, params: any, signal: any, _update: any, ctx: any) {
			const turn = `${ctx.sessionManager.getSessionId()}:${processId}:${turns}`;
			const args = ["ask", "--turn", turn, "--", String(params.session), String(params.question)];
			const result = await runJson(args, ctx, MODEL_TIMEOUT_MS, signal);
			const { answerMarkdown, confidence, extractive, notes } = result;
			const citations = result.citations.map((one: any) => `- ${one.citation}: ${one.excerpt}`);
			const text = extractive ? [answerMarkdown] : [answerMarkdown, `Confidence: ${confidence}`, ...citations];
			return { content: [{ type: "text", text: [...text, ...notes].join("\n") }], details: result };
		},
	});

	pi.registerCommand(COMMAND, {
		description: "Write this session's card now: name, description, summary, tags",
		handler: async (_: string, ctx: any) => {
			await ctx.waitForIdle();
			const report = (text: string, kind: string) => {
				ctx.ui.setStatus(STATUS_KEY, text);
				ctx.ui.notify(text, kind);
				if (STATUS_MS > 0) setTimeout(() => ctx.ui.setStatus(STATUS_KEY, undefined), STATUS_MS).unref();
			};
			try {
				await queue;
				const { name, refresh } = await runJson(["card", ctx.sessionManager.getSessionId(), "--refresh", "--force"], ctx);
				// Keep a name that the user gave.
				if (refresh?.outcome === "made" && !ctx.sessionManager.getSessionName?.()) pi.setSessionName?.(name);
				const cost = refresh?.costUsd == null ? "" : `, $${refresh.costUsd.toFixed(refresh.costUsd < 0.01 ? 6 : 4)}`;
				const reason = refresh?.reason ? `: ${refresh.reason}` : "";
				report(`card ${refresh?.outcome}${reason}: ${name}${cost}`, refresh?.outcome === "made" ? "info" : "warning");
			} catch (error: any) {
				report(`card: ${error.message}`, "warning");
			}
		},
	});

	pi.registerCommand("handoff", {
		description: "Continue in a new session, with a handoff note in the editor (not sent)",
		handler: async (_: string, ctx: any) => {
			await ctx.waitForIdle();
			try {
				await queue;
				const { markdown } = await runJson(["handoff", ctx.sessionManager.getSessionId()], ctx);
				const parentSession = ctx.sessionManager.getSessionFile();
				await ctx.newSession({ parentSession, withSession: async (next: any) => next.ui.setEditorText(markdown) });
			} catch (error: any) {
				ctx.ui.notify(`handoff: ${error.message}`, "warning");
			}
		},
	});
}
