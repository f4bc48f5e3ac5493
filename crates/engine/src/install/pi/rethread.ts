// Rethread for pi. Written by `rethread install`; `rethread uninstall pi` removes it, and an update overwrites it.
//
// Tells Rethread what happens in this session, and adds what Rethread has to say about the other sessions of the
// project, and about sessions that a prompt names with @@, as a message of type "session-update". It blocks no tool,
// and keeps pi waiting for five seconds at most, in practice for milliseconds.
// It registers one tool, query_session, which answers questions about other sessions; two commands, one that makes this
// session's card and /handoff; and a completion for @@. RETHREAD_DISABLE=1 in the environment switches all of it off.

import { spawn } from "node:child_process";

const PROGRAM = "@BINARY@";
/** From Rethread's configuration when it was installed. */
const COMMAND = "@COMMAND@";
const STATUS_KEY = "@STATUS@";
const STATUS_MS = Number("@CLEAR@");
/** A model may be asked for an answer or a card; nobody waits longer. */
const MODEL_PATIENCE_MS = 120000;
const PATIENCE_MS = 5000;
/** Who did not answer in time is left alone for so long. */
const REST_MS = 60000;
let restsUntil = 0;
/** Tools that change files, or may do so. */
const CHANGING = ["edit", "write", "bash"];

type Message = { customType: string; content: string };

/** Runs Rethread and gives what it printed; nothing if it cannot be run or does not end in time. */
function run(words: string[], patience: number, said = "", cwd?: string, signal?: AbortSignal): Promise<string | undefined> {
	return new Promise((resolve) => {
		try {
			const child = spawn(PROGRAM, words, { stdio: ["pipe", "pipe", "ignore"], cwd });
			const end = (heard: string | undefined) => {
				clearTimeout(timer);
				signal?.removeEventListener("abort", stop);
				resolve(heard);
			};
			const stop = () => {
				child.kill("SIGKILL");
				// Whatever still holds them must not keep pi from ending.
				for (const pipe of [child.stdin, child.stdout]) pipe.destroy();
				end(undefined);
			};
			const timer = setTimeout(stop, patience);
			signal?.addEventListener("abort", stop);
			let heard = "";
			child.stdout.setEncoding("utf8").on("data", (text: string) => (heard += text));
			for (const pipe of [child.stdin, child.stdout]) pipe.on("error", () => {});
			child.on("error", () => end(undefined));
			child.on("close", () => end(heard));
			child.stdin.end(said);
		} catch {
			resolve(undefined);
		}
	});
}

/** Gives one event to Rethread. Its answer, or nothing, whatever goes wrong and however long it takes. */
async function ask(said: object, patience: number): Promise<Message | undefined> {
	if (patience <= 0 || Date.now() < restsUntil) return undefined;
	const heard = await run(["hook", "pi"], patience, JSON.stringify(said));
	if (heard === undefined) restsUntil = Date.now() + REST_MS;
	return heard ? read(heard) : undefined;
}

/** Runs a verb of Rethread for the user or the model; throws what it says went wrong. */
async function verb([verb, ...words]: string[], ctx: any, patience = MODEL_PATIENCE_MS, signal?: AbortSignal): Promise<any> {
	const heard = await run([verb, "--json", ...words], patience, "", ctx?.cwd, signal);
	if (!heard) throw new Error("Rethread could not be run, was stopped, or took too long.");
	const told = JSON.parse(heard);
	if (told.error) throw new Error(`${told.error.code}: ${told.error.message}${told.error.hint ? ` (${told.error.hint})` : ""}`);
	return told;
}

function read(heard: string): Message | undefined {
	try {
		const { customType, content } = JSON.parse(heard);
		return typeof content === "string" ? { customType, content } : undefined;
	} catch {
		return undefined;
	}
}

/** The text of a message or of a tool's result. */
function textOf(content: any): string {
	if (!Array.isArray(content)) return typeof content === "string" ? content : "";
	return content.map((part: any) => (part?.type === "text" ? String(part.text) : "")).join("");
}

/** Completes @@ with sessions of this project, newest first. */
function completing(current: any, ctx: any): any {
	let known: { at: number; items: any[] } = { at: 0, items: [] };
	const sessions = async () => {
		if (Date.now() - known.at > 5000) {
			const own = ctx.sessionManager.getSessionId();
			const listed = await verb(["sessions", "--limit", "50"], ctx, PATIENCE_MS).catch(() => undefined);
			const others = listed?.sessions?.filter((session: any) => session.externalId !== own) ?? [];
			const item = (session: any) => ({
				value: `@@${session.id}`,
				label: session.alias ?? session.name ?? session.id,
				description: `${String(session.lastActivityAt ?? "").slice(0, 16).replace("T", " ")} ${session.agent}`,
			});
			known = { at: Date.now(), items: others.map(item) };
		}
		return known.items;
	};
	return {
		triggerCharacters: [...(current.triggerCharacters ?? []), "@"],
		async getSuggestions(lines: string[], line: number, column: number, options: any) {
			const typed = /(?:^|[\s(])(@@([^\s@]*))$/.exec(lines[line]?.slice(0, column) ?? "");
			if (!typed) return current.getSuggestions(lines, line, column, options);
			const wanted = typed[2].toLowerCase();
			const fits = (item: any) => `${item.value} ${item.label}`.toLowerCase().includes(wanted);
			const items = (await sessions()).filter(fits);
			return items.length ? { items, prefix: typed[1] } : null;
		},
		applyCompletion(lines: string[], line: number, column: number, item: any, prefix: string) {
			if (!prefix.startsWith("@@")) return current.applyCompletion(lines, line, column, item, prefix);
			const text = lines[line];
			const before = text.slice(0, column - prefix.length) + item.value;
			const after = [...lines.slice(0, line), before + text.slice(column), ...lines.slice(line + 1)];
			return { lines: after, cursorLine: line, cursorCol: before.length };
		},
		shouldTriggerFileCompletion: (...place: any[]) => current.shouldTriggerFileCompletion?.(...place) ?? true,
	};
}

// Without pi's types, so that it works with every version of pi and needs no package.
export default function (pi: any) {
	// One event after the other, so that Rethread hears them in their order.
	let queue: Promise<Message | undefined> = Promise.resolve(undefined);

	const tell = (event: string, ctx: any, more: object): Promise<Message | undefined> => {
		try {
			const { sessionManager, cwd } = ctx;
			const session = { session_id: sessionManager.getSessionId(), session_file: sessionManager.getSessionFile() };
			const until = Date.now() + PATIENCE_MS;
			queue = queue.then(() => ask({ event, ...session, cwd, ...more }, until - Date.now()));
			return queue;
		} catch {
			return Promise.resolve(undefined);
		}
	};

	// Turns are counted for each process: a session that is opened again begins with a new turn.
	const processId = `${process.pid}-${Date.now()}`;
	let turns = 0;

	pi.on("session_start", (e: any, ctx: any) => {
		void tell("session_start", ctx, { reason: e.reason });
		try {
			ctx.ui?.addAutocompleteProvider?.((current: any) => completing(current, ctx));
		} catch {}
	});

	pi.on("before_agent_start", async (e: any, ctx: any) => {
		turns += 1;
		const message = await tell("before_agent_start", ctx, { prompt: e.prompt, message_type: e.messageType });
		return message && { message: { ...message, display: true } };
	});

	pi.on("tool_call", async (e: any, ctx: any) => {
		if (!CHANGING.includes(e.toolName)) return;
		// Of commands only those that may change the branch matter before they run.
		if (e.toolName === "bash" && !/\bgit\b/.test(e.input?.command)) return;
		const message = await tell("tool_call", ctx, { tool_name: e.toolName, tool_input: e.input });
		try {
			// It goes to the model with this tool's result; an error here would block the tool.
			if (message) pi.sendMessage({ ...message, display: true }, { deliverAs: "steer" });
		} catch {}
	});

	pi.on("tool_result", async (e: any, ctx: any) => {
		if (!CHANGING.includes(e.toolName)) return;
		const output = textOf(e.content);
		const result = { is_error: !!e.isError, error: e.isError ? output : undefined, output_chars: output.length };
		const told = tell("tool_result", ctx, { tool_name: e.toolName, tool_input: e.input, ...result });
		// Only for a failure is there anything to say, and only then it is worth waiting for.
		if (!e.isError) return;
		const message = await told;
		try {
			if (message) pi.sendMessage({ ...message, display: true }, { deliverAs: "steer" });
		} catch {}
	});

	pi.on("agent_end", (e: any, ctx: any) => {
		const last = e.messages?.filter((message: any) => message?.role === "assistant").pop();
		void tell("agent_end", ctx, { last_assistant_message: textOf(last?.content) });
	});

	pi.on("session_before_compact", (_: any, ctx: any) => void tell("session_before_compact", ctx, {}));
	pi.on("session_compact", (_: any, ctx: any) => void tell("session_compact", ctx, {}));

	// Waits, so that nothing that was told before is lost when pi ends.
	pi.on("session_shutdown", async (e: any, ctx: any) => {
		await tell("session_shutdown", ctx, { reason: e.reason });
	});

	if (process.env.RETHREAD_DISABLE && process.env.RETHREAD_DISABLE !== "0") return;

	pi.registerTool({
		name: "query_session",
		label: "Query session",
		description:
			"Answers one focused question about another coding session of this user, with citations. " +
			"Give the session by its id or its exact name, as in an @@reference; never guess one.",
		parameters: {
			type: "object",
			properties: {
				session: { type: "string", description: "The id or the exact name of the session" },
				question: { type: "string", description: "One focused question" },
			},
			required: ["session", "question"],
		},
		async execute(_id: string, asked: any, signal: any, _update: any, ctx: any) {
			const turn = `${ctx.sessionManager.getSessionId()}:${processId}:${turns}`;
			const words = ["ask", "--turn", turn, "--", String(asked.session), String(asked.question)];
			const told = await verb(words, ctx, MODEL_PATIENCE_MS, signal);
			const cited = told.citations.map((one: any) => `- ${one.citation}: ${one.excerpt}`);
			const text = told.extractive ? [told.answerMarkdown] : [told.answerMarkdown, `Confidence: ${told.confidence}`, ...cited];
			return { content: [{ type: "text", text: [...text, ...told.notes].join("\n") }], details: told };
		},
	});

	pi.registerCommand(COMMAND, {
		description: "Make this session's card now: name, description, summary, tags",
		handler: async (_: string, ctx: any) => {
			await ctx.waitForIdle();
			const say = (text: string, kind: string) => {
				ctx.ui.setStatus(STATUS_KEY, text);
				ctx.ui.notify(text, kind);
				if (STATUS_MS > 0) setTimeout(() => ctx.ui.setStatus(STATUS_KEY, undefined), STATUS_MS).unref();
			};
			try {
				await queue;
				const { name, refresh } = await verb(["card", ctx.sessionManager.getSessionId(), "--refresh", "--force"], ctx);
				// A name that the user gave stays.
				if (refresh?.outcome === "made" && !ctx.sessionManager.getSessionName?.()) pi.setSessionName?.(name);
				const cost = refresh?.costUsd == null ? "" : `, $${refresh.costUsd.toFixed(refresh.costUsd < 0.01 ? 6 : 4)}`;
				const reason = refresh?.reason ? `: ${refresh.reason}` : "";
				say(`card ${refresh?.outcome}${reason}: ${name}${cost}`, refresh?.outcome === "made" ? "info" : "warning");
			} catch (error: any) {
				say(`card: ${error.message}`, "warning");
			}
		},
	});

	pi.registerCommand("handoff", {
		description: "Go on in a new session, with what is known of this one in the editor, not sent",
		handler: async (_: string, ctx: any) => {
			await ctx.waitForIdle();
			try {
				await queue;
				const { markdown } = await verb(["handoff", ctx.sessionManager.getSessionId()], ctx);
				const parentSession = ctx.sessionManager.getSessionFile();
				await ctx.newSession({ parentSession, withSession: async (next: any) => next.ui.setEditorText(markdown) });
			} catch (error: any) {
				ctx.ui.notify(`handoff: ${error.message}`, "warning");
			}
		},
	});
}
