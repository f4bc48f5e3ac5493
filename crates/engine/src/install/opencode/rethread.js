// Rethread for OpenCode and Kilo. Written by `rethread install`; `rethread uninstall @HOST@` removes it, and an update overwrites it.
//
// Sends the events of a session to Rethread, and adds its context: about other sessions after a prompt, about a known
// fix after a failed command. It never blocks a tool, and delays the agent by milliseconds, at most by five seconds.
// RETHREAD_DISABLE=1 in the environment disables it.

import { spawn } from "node:child_process";

const PROGRAM = "@BINARY@";
const HOST = "@HOST@";
const EVENT_TIMEOUT_MS = 5000;
/** After a timeout, no events are sent for this long. */
const PAUSE_MS = 60000;
/** How much of an error's beginning, and of its end, is sent. */
const ERROR_CHARS = 4000;
/** How many answers about tool calls that failed are kept. */
const MAX_ANSWERS = 200;
/** Tools that change files or may do so. Names of OpenCode 1.x, Kilo and OpenCode 2.x. */
const EDITS = ["edit", "write", "patch", "apply_patch", "multiedit"];
const SHELLS = ["bash", "shell"];
const CHANGING = [...EDITS, ...SHELLS];
const MARK = "<rethread-context>";

const isDisabled = () => !!process.env.RETHREAD_DISABLE && process.env.RETHREAD_DISABLE !== "0";
/** A run of one prompt without a terminal, as `opencode run "…"`. */
const isHeadless = process.argv.includes("run");

function attempt(use) {
	try {
		return use();
	} catch {
		return undefined;
	}
}

/** A handler that never throws or rejects: that would stop the user's prompt or tool. */
function guarded(handler) {
	return async (...args) => {
		try {
			return await handler(...args);
		} catch {
			return undefined;
		}
	};
}

/** Runs the hook with one event and returns its output; undefined if it cannot be started or times out. */
function run(input, timeoutMs) {
	return new Promise((resolve) => {
		let timer;
		const end = (output) => {
			clearTimeout(timer);
			resolve(output);
		};
		try {
			const child = spawn(PROGRAM, ["hook", HOST], { stdio: ["pipe", "pipe", "ignore"] });
			child.on("error", () => end(""));
			let output = "";
			child.on("close", () => end(output));
			timer = setTimeout(() => {
				attempt(() => child.kill("SIGKILL"));
				// A child of the process may hold the pipes open; that must not keep the agent from exiting.
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

let pausedUntil = 0;
// Events are sent one at a time, in order. The queue never rejects.
let queue = Promise.resolve("");

/** Sends one event. Resolves to the context that Rethread answers; empty on any error or timeout. */
function notify(event) {
	const deadline = Date.now() + EVENT_TIMEOUT_MS;
	queue = queue.then(async () => {
		const timeoutMs = deadline - Date.now();
		if (timeoutMs <= 0 || Date.now() < pausedUntil) return "";
		const input = attempt(() => JSON.stringify(event));
		if (input === undefined) return "";
		const output = await run(input, timeoutMs);
		if (output === undefined) pausedUntil = Date.now() + PAUSE_MS;
		const context = output && attempt(() => JSON.parse(output).context);
		return typeof context === "string" ? context : "";
	});
	return queue;
}

/** Sends the end of a tool call. Resolves to the context to show the model, at once if the call did not fail. */
function notifyToolEnd(session, tool_name, tool_input, output, exitCode, isError) {
	const has_failed = isError || (typeof exitCode === "number" && exitCode !== 0);
	const error = output.length > 2 * ERROR_CHARS ? `${output.slice(0, ERROR_CHARS)}\n…\n${output.slice(-ERROR_CHARS)}` : output;
	const answer = notify({
		event: "tool_end",
		...session,
		tool_name,
		tool_input,
		output_chars: output.length,
		exit_code: typeof exitCode === "number" ? exitCode : undefined,
		is_error: isError,
		error: has_failed ? error : undefined,
	});
	return has_failed ? answer : Promise.resolve("");
}

/** Before they run, only edits and commands that may switch the branch or commit matter. */
const mayCollide = (tool, input) => EDITS.includes(tool) || (SHELLS.includes(tool) && /\bgit\b/.test(input?.command));

/** `opencode run "two words"` puts quotation marks around the prompt and escapes those inside. */
function unquote(prompt) {
	const quoted = /^"((?:[^"]|(?<=\\)")*)"$/.exec(prompt.trim());
	return quoted && /\s/.test(quoted[1]) ? quoted[1].replaceAll('\\"', '"') : prompt;
}

const joined = (...texts) => texts.filter(Boolean).join("\n\n");

/** Adds an entry and drops the oldest, so that a server that runs for days does not grow. */
function remember(map, key, value) {
	map.set(key, value);
	if (map.size > MAX_ANSWERS) map.delete(map.keys().next().value);
}

/** The entry for OpenCode 1.x and Kilo. */
async function server({ client, directory }) {
	if (isDisabled()) return {};
	const startedAt = Date.now();
	/** What is known of a session: its ID, its directory, and its parent if it belongs to a sub-agent. */
	const sessions = new Map();
	const lastTexts = new Map();
	/** Context for the model about a tool call, by call ID: notices from before it ran, and answers to its failure. */
	const notices = new Map();
	const answers = new Map();

	const sessionInfo = async (id) => {
		if (!sessions.has(id)) {
			const found = await guarded(() => client.session.get({ path: { id } }))();
			const info = found?.data;
			sessions.set(id, { id, parent: info?.parentID, cwd: info?.directory ?? directory, createdAt: info?.time?.created ?? 0, isStarted: false });
		}
		return sessions.get(id);
	};
	/** The fields that identify a session in an event. Tools of a sub-agent belong to the session that started it. */
	const fieldsOf = (info) => (info.parent ? { session_id: info.parent, agent_id: info.id, cwd: info.cwd } : { session_id: info.id, cwd: info.cwd });

	const startContext = async (info) => {
		if (info.isStarted) return "";
		info.isStarted = true;
		return notify({ event: "session_start", ...fieldsOf(info), source: info.createdAt >= startedAt ? "startup" : "resume" });
	};

	/** Adds our text as a part after the prompt. It is marked as ignored, so that it is stored, but not shown and not part of the title request. */
	const onPrompt = async ({ sessionID }, { message, parts }) => {
		const info = await sessionInfo(sessionID);
		if (info.parent) return;
		const typed = parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored).map((part) => part.text);
		if (!typed.join("").trim()) return;
		const start = await startContext(info);
		const text = joined(start, await notify({ event: "prompt", ...fieldsOf(info), prompt: unquote(typed.join("\n")) }));
		if (!text) return;
		// Parts are ordered by ID: a longer ID comes after the one it begins with.
		const last = parts.map((part) => part.id).sort().pop();
		parts.push({ id: `${last}rethread`, sessionID, messageID: message.id, type: "text", text, synthetic: true, ignored: true });
	};

	/** Answers to tool calls that threw: `tool.execute.after` is not called for them. */
	const answerToFailure = async ({ sessionID, tool, callID, state }) => {
		if (!answers.has(callID)) {
			const info = await sessionInfo(sessionID);
			const answer = await notifyToolEnd(fieldsOf(info), tool, state.input, String(state.error), undefined, true);
			remember(answers, callID, joined(notices.get(callID), answer));
			notices.delete(callID);
		}
		return answers.get(callID);
	};

	/** Changes only what is sent to the model: shows it our parts, and our answers to failures of this turn. */
	const onMessages = async (_, { messages }) => {
		const lastPrompt = messages.findLastIndex(({ info }) => info.role === "user");
		for (const [index, { parts }] of messages.entries()) {
			for (const part of parts) {
				if (part.type === "text" && part.ignored && part.text.startsWith(MARK)) part.ignored = false;
				if (part.type !== "tool" || part.state?.status !== "error") continue;
				if (index < lastPrompt && !answers.has(part.callID)) continue;
				const answer = await answerToFailure(part);
				if (answer) part.state = { ...part.state, error: joined(String(part.state.error), answer) };
			}
		}
	};

	const onToolStart = async ({ tool, sessionID, callID }, { args }) => {
		if (!mayCollide(tool, args)) return;
		const info = await sessionInfo(sessionID);
		const notice = await notify({ event: "tool_start", ...fieldsOf(info), tool_name: tool, tool_input: args });
		if (notice) remember(notices, callID, notice);
	};

	const onToolEnd = async ({ tool, sessionID, callID, args }, result) => {
		if (!CHANGING.includes(tool) || typeof result?.output !== "string") return;
		const info = await sessionInfo(sessionID);
		// A command that was stopped has no exit code.
		const exit = result.metadata?.exit;
		const answer = await notifyToolEnd(fieldsOf(info), tool, args, result.output, exit, exit === null);
		const text = joined(notices.get(callID), answer);
		notices.delete(callID);
		if (text) result.output = joined(result.output, text);
	};

	const onCompacting = async ({ sessionID }) => {
		const info = await sessionInfo(sessionID);
		if (!info.parent) void notify({ event: "compacting", ...fieldsOf(info) });
	};

	const onEvent = async ({ event: { type, properties } }) => {
		if (type === "message.part.updated") {
			const { part } = properties;
			// Only text of the assistant has times.
			if (part.type === "text" && part.time?.end) remember(lastTexts, part.sessionID, part.text);
			return;
		}
		if (type !== "session.idle" && type !== "session.compacted" && type !== "session.deleted") return;
		const id = properties.sessionID ?? properties.info?.id;
		// A deleted session cannot be looked up.
		const info = type === "session.deleted" ? sessions.get(id) : await sessionInfo(id);
		if (!info || info.parent) return;
		const fields = fieldsOf(info);
		if (type === "session.idle") {
			const last_assistant_message = lastTexts.get(id) ?? "";
			void notify({ event: "turn_end", ...fields, last_assistant_message });
		} else if (type === "session.compacted") {
			void notify({ event: "compacted", ...fields });
		} else {
			sessions.delete(id);
			void notify({ event: "session_end", ...fields, reason: "deleted" });
		}
	};

	/** Called when the program exits; waits, so that queued events are not lost. */
	const dispose = async () => {
		const mode = isHeadless ? "run" : undefined;
		for (const info of sessions.values()) {
			if (info.isStarted) void notify({ event: "session_end", ...fieldsOf(info), reason: "exit", mode });
		}
		sessions.clear();
		await queue;
	};

	return {
		"chat.message": guarded(onPrompt),
		"experimental.chat.messages.transform": guarded(onMessages),
		"tool.execute.before": guarded(onToolStart),
		"tool.execute.after": guarded(onToolEnd),
		"experimental.session.compacting": guarded(onCompacting),
		event: guarded(onEvent),
		dispose: guarded(dispose),
	};
}

/** The text of a tool's result in OpenCode 2.x. */
function resultText({ content, output }) {
	if (typeof content === "string") return content;
	if (Array.isArray(content)) return content.map((part) => (part?.type === "text" ? part.text : "")).join("\n\n");
	return typeof output === "string" ? output : "";
}

/** The entry for OpenCode 2.x. Not verified: written from its published plugin interface, no release could be run. */
async function setup(ctx) {
	if (isDisabled()) return undefined;
	const startedAt = Date.now();
	const sessions = new Map();
	const lastTexts = new Map();
	const notices = new Map();
	/** Context for the newest prompt of a session; added to each request of its turn, not stored. */
	const contexts = new Map();

	const sessionInfo = async (sessionID) => {
		if (!sessions.has(sessionID)) {
			const found = await guarded(() => ctx.session.get({ sessionID }))();
			const info = found?.data ?? found;
			const cwd = info?.location?.directory ?? ctx.location?.directory ?? process.cwd();
			const source = (info?.time?.created ?? 0) >= startedAt ? "startup" : "resume";
			const parent = info?.parentID;
			const fields = parent ? { session_id: parent, agent_id: sessionID, cwd } : { session_id: sessionID, cwd };
			sessions.set(sessionID, { parent, fields, source, isStarted: false });
		}
		return sessions.get(sessionID);
	};

	const onPrompt = async ({ sessionID, prompt }) => {
		const info = await sessionInfo(sessionID);
		if (info.parent || !prompt?.text?.trim()) return;
		const start = info.isStarted ? "" : await notify({ event: "session_start", ...info.fields, source: info.source });
		info.isStarted = true;
		const text = joined(start, await notify({ event: "prompt", ...info.fields, prompt: unquote(prompt.text) }));
		remember(contexts, sessionID, text);
	};

	const onContext = ({ sessionID, kind, messages }) => {
		const text = contexts.get(sessionID);
		const index = messages.findLastIndex((message) => message.role === "user");
		if (!text || index < 0 || (kind && kind !== "primary")) return;
		const message = messages[index];
		const content = [...message.content, { type: "text", text }];
		messages[index] = Object.assign(Object.create(Object.getPrototypeOf(message)), message, { content });
	};

	const onToolStart = async ({ tool, sessionID, id, input }) => {
		if (!mayCollide(tool, input)) return;
		const { fields } = await sessionInfo(sessionID);
		const notice = await notify({ event: "tool_start", ...fields, tool_name: tool, tool_input: input });
		if (notice) remember(notices, id, notice);
	};

	const onToolEnd = async (event) => {
		const { tool, sessionID, id, input, status, result, error } = event;
		const isError = status === "error";
		if (!isError && !CHANGING.includes(tool)) return;
		const { fields } = await sessionInfo(sessionID);
		const output = isError ? String(error?.message ?? error) : resultText(result);
		const exit = result?.metadata?.exit ?? result?.output?.exit;
		const text = joined(notices.get(id), await notifyToolEnd(fields, tool, input, output, exit, isError));
		notices.delete(id);
		if (!text) return;
		if (isError) error.message = joined(output, text);
		else event.result = { ...result, content: [{ type: "text", text: output }, { type: "text", text }] };
	};

	const onCompacting = async ({ sessionID }) => {
		const info = await sessionInfo(sessionID);
		if (!info.parent) void notify({ event: "compacting", ...info.fields });
	};

	const onEvent = async ({ type, data }) => {
		if (type === "session.text.ended") remember(lastTexts, data.sessionID, data.text);
		const isTurnEnd = /^session\.execution\.(succeeded|failed|interrupted)$/.test(type);
		if (!isTurnEnd && type !== "session.compaction.ended" && type !== "session.deleted") return;
		const info = type === "session.deleted" ? sessions.get(data.sessionID) : await sessionInfo(data.sessionID);
		if (!info || info.parent) return;
		if (isTurnEnd) void notify({ event: "turn_end", ...info.fields, last_assistant_message: lastTexts.get(data.sessionID) ?? "" });
		else if (type === "session.deleted") void notify({ event: "session_end", ...info.fields, reason: "deleted" });
		else void notify({ event: "compacted", ...info.fields });
	};

	const stop = new AbortController();
	const listen = guarded(async () => {
		for await (const event of ctx.event.subscribe({ signal: stop.signal })) await guarded(onEvent)(event);
	});
	await guarded(() => ctx.session.hook("prompt", guarded(onPrompt)))();
	await guarded(() => ctx.session.hook("context", guarded(onContext)))();
	await guarded(() => ctx.session.hook("compaction", guarded(onCompacting)))();
	await guarded(() => ctx.tool.hook("execute.before", guarded(onToolStart)))();
	await guarded(() => ctx.tool.hook("execute.after", guarded(onToolEnd)))();
	void listen();
	return guarded(async () => {
		stop.abort();
		for (const info of sessions.values()) {
			if (info.isStarted) void notify({ event: "session_end", ...info.fields, reason: "exit", mode: isHeadless ? "run" : undefined });
		}
		await queue;
	});
}

// OpenCode 1.x and Kilo call `server`, OpenCode 2.x calls `setup`.
export default { id: "rethread", server, setup };
