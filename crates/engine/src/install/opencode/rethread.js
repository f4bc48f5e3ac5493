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
/** How many sessions, tool calls and texts about them are kept in mind. */
const MAX_KEPT = 200;
/** Tools that change files or may do so. Names of OpenCode 1.x, Kilo and OpenCode 2.x. */
const EDITS = ["edit", "write", "patch", "apply_patch", "multiedit"];
const SHELLS = ["bash", "shell"];
const MARK = "<rethread-context>";
/** How the IDs of our parts end. */
const PART_SUFFIX = "rethread";

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

const newDeadline = () => Date.now() + EVENT_TIMEOUT_MS;

/** Sends one event. Resolves to the context that Rethread answers; empty on any error or after the deadline. */
function notify(event, deadline = newDeadline()) {
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

const joined = (...texts) => texts.filter(Boolean).join("\n\n");

/** Adds an entry and drops the oldest, so that a server that runs for days does not grow. */
function remember(map, key, value) {
	map.delete(key);
	map.set(key, value);
	if (map.size > MAX_KEPT) map.delete(map.keys().next().value);
}

/** `opencode run "two words"` puts quotation marks around the prompt and escapes those inside. */
function unquote(prompt) {
	const quoted = /^"((?:[^"]|(?<=\\)")*)"$/.exec(prompt.trim());
	return quoted && /\s/.test(quoted[1]) ? quoted[1].replaceAll('\\"', '"') : prompt;
}

/** What both entries have in common. `lookUp` finds a session's parentID, directory and time of creation. */
function createMemory(lookUp) {
	const startedAt = Date.now();
	const sessions = new Map();
	const lastTexts = new Map();
	/** By session and tool call: a notice from before it ran. */
	const notices = new Map();

	/** IDs of tool calls are only unique within a session. */
	const keyOf = (id, callID) => JSON.stringify([id, callID]);

	const newInfo = async (id) => {
		const { parentID, directory, created } = (await guarded(lookUp)(id)) ?? {};
		const cwd = directory ?? process.cwd();
		// Tools of a sub-agent belong to the session that started it.
		const root = parentID && (await infoOf(parentID)).fields.session_id;
		const fields = root ? { session_id: root, agent_id: id, cwd } : { session_id: id, cwd };
		return { isSubagent: !!parentID, fields, source: created >= startedAt ? "startup" : "resume", isStarted: false };
	};

	const infoOf = async (id) => {
		const found = sessions.get(id) ?? (await newInfo(id));
		// Another event may have added it during the lookup.
		const info = sessions.get(id) ?? found;
		// Moves it to the end: the session that was not used for the longest time is dropped first.
		remember(sessions, id, info);
		return info;
	};

	return {
		knows: (id) => sessions.has(id),
		rememberText: (id, text) => remember(lastTexts, id, text),

		/** Resolves to the context for a prompt that a human typed. */
		async prompt(id, text) {
			const info = await infoOf(id);
			if (info.isSubagent || !text.trim()) return "";
			const deadline = newDeadline();
			const start = info.isStarted ? "" : await notify({ event: "session_start", ...info.fields, source: info.source }, deadline);
			info.isStarted = true;
			return joined(start, await notify({ event: "prompt", ...info.fields, prompt: unquote(text) }, deadline));
		},

		async toolStart(id, callID, tool_name, tool_input) {
			// Before they run, only edits and commands that may switch the branch or commit matter.
			const isGit = SHELLS.includes(tool_name) && /\bgit\b/.test(tool_input?.command);
			if (!EDITS.includes(tool_name) && !isGit) return;
			const notice = await notify({ event: "tool_start", ...(await infoOf(id)).fields, tool_name, tool_input });
			if (notice) remember(notices, keyOf(id, callID), notice);
		},

		/** Resolves to the context to show the model with the result, at once if the call did not fail. */
		async toolEnd(id, callID, { tool_name, tool_input, output, exitCode, isError }) {
			const key = keyOf(id, callID);
			const notice = notices.get(key);
			notices.delete(key);
			const hasFailed = isError || (typeof exitCode === "number" && exitCode !== 0);
			if (!hasFailed && !EDITS.includes(tool_name) && !SHELLS.includes(tool_name)) return notice ?? "";
			const error = output.length > 2 * ERROR_CHARS ? `${output.slice(0, ERROR_CHARS)}\n…\n${output.slice(-ERROR_CHARS)}` : output;
			const answer = notify({
				event: "tool_end",
				...(await infoOf(id)).fields,
				tool_name,
				tool_input,
				output_chars: output.length,
				exit_code: typeof exitCode === "number" ? exitCode : undefined,
				is_error: isError,
				error: hasFailed ? error : undefined,
			});
			return joined(notice, hasFailed ? await answer : "");
		},

		/** Sends an event that has no answer: turn_end, compacting, compacted, or session_end of a deleted session. */
		async report(id, event) {
			const { isSubagent, fields } = await infoOf(id);
			if (isSubagent) return;
			const last_assistant_message = event === "turn_end" ? (lastTexts.get(id) ?? "") : undefined;
			const reason = event === "session_end" ? "deleted" : undefined;
			if (reason) sessions.delete(id);
			void notify({ event, ...fields, last_assistant_message, reason });
		},

		/** Called when the program exits; waits, so that queued events are not lost. */
		async exit() {
			const mode = isHeadless ? "run" : undefined;
			for (const { isStarted, fields } of sessions.values()) {
				if (isStarted) void notify({ event: "session_end", ...fields, reason: "exit", mode });
			}
			sessions.clear();
			await queue;
		},
	};
}

/** The entry for OpenCode 1.x and Kilo. */
async function server({ client, directory }) {
	if (isDisabled()) return {};
	const memory = createMemory(async (id) => {
		const { data } = await client.session.get({ path: { id } });
		return { parentID: data?.parentID, directory: data?.directory ?? directory, created: data?.time?.created };
	});
	/** By the ID of the part with a tool call: the answer to its failure. */
	const answers = new Map();

	/** Adds our text as a part after the prompt. It is marked as ignored: stored, but not shown and not part of the title request. */
	const onPrompt = async ({ sessionID }, { message, parts }) => {
		const typed = parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored).map((part) => part.text);
		const text = await memory.prompt(sessionID, typed.join("\n"));
		if (!text) return;
		// Parts are ordered by ID: a longer ID comes after the one it begins with.
		const last = parts.map((part) => part.id).sort().pop();
		parts.push({ id: `${last}${PART_SUFFIX}`, sessionID, messageID: message.id, type: "text", text, synthetic: true, ignored: true });
	};

	/** A fork of a session has the same parts with other IDs. */
	const isOurs = ({ type, id, text }) => type === "text" && (id?.endsWith(PART_SUFFIX) || text.startsWith(MARK));

	/** Tool calls that threw: `tool.execute.after` is not called for them. */
	const answerToFailure = async ({ id, sessionID, tool, callID, state }) => {
		if (!answers.has(id)) {
			const failure = { tool_name: tool, tool_input: state.input, output: String(state.error), isError: true };
			remember(answers, id, await memory.toolEnd(sessionID, callID, failure));
		}
		return answers.get(id);
	};

	/** Changes only what is sent to the model: shows it our parts, and our answers to failures of this turn. */
	const onMessages = async (_, { messages }) => {
		const lastPrompt = messages.findLastIndex(({ info }) => info.role === "user");
		for (const [index, { parts }] of messages.entries()) {
			for (const part of parts) {
				if (part.ignored && isOurs(part)) part.ignored = false;
				if (part.type !== "tool" || part.state?.status !== "error") continue;
				if (index < lastPrompt && !answers.has(part.id)) continue;
				const answer = await answerToFailure(part);
				if (answer) part.state = { ...part.state, error: joined(String(part.state.error), answer) };
			}
		}
	};

	const onToolEnd = async ({ tool, sessionID, callID, args }, result) => {
		if (typeof result?.output !== "string") return;
		// A command that was stopped has no exit code.
		const exitCode = result.metadata?.exit;
		const ended = { tool_name: tool, tool_input: args, output: result.output, exitCode, isError: exitCode === null };
		const text = await memory.toolEnd(sessionID, callID, ended);
		if (text) result.output = joined(result.output, text);
	};

	const EVENTS = { "session.idle": "turn_end", "session.compacted": "compacted", "session.deleted": "session_end" };
	const onEvent = async ({ event: { type, properties } }) => {
		const part = type === "message.part.updated" ? properties.part : undefined;
		// Only text of the assistant has times.
		if (part?.type === "text" && part.time?.end) memory.rememberText(part.sessionID, part.text);
		const id = properties?.sessionID ?? properties?.info?.id;
		// A deleted session cannot be looked up.
		if (EVENTS[type] && (type !== "session.deleted" || memory.knows(id))) await memory.report(id, EVENTS[type]);
	};

	return {
		"chat.message": guarded(onPrompt),
		"experimental.chat.messages.transform": guarded(onMessages),
		"tool.execute.before": guarded(({ tool, sessionID, callID }, { args }) => memory.toolStart(sessionID, callID, tool, args)),
		"tool.execute.after": guarded(onToolEnd),
		"experimental.session.compacting": guarded(({ sessionID }) => memory.report(sessionID, "compacting")),
		event: guarded(onEvent),
		dispose: guarded(memory.exit),
	};
}

/** The text of a tool's result in OpenCode 2.x. */
function resultText({ content, output }) {
	if (Array.isArray(content)) return content.map((part) => (part?.type === "text" ? part.text : "")).join("\n\n");
	return String(content ?? (typeof output === "string" ? output : ""));
}

/** The entry for OpenCode 2.x. Not verified: written from its published plugin interface, no release could be run. */
async function setup(ctx) {
	if (isDisabled()) return undefined;
	const memory = createMemory(async (sessionID) => {
		const found = await ctx.session.get({ sessionID });
		const info = found?.data ?? found;
		return { parentID: info?.parentID, directory: info?.location?.directory ?? ctx.location?.directory, created: info?.time?.created };
	});
	/** Context for the newest prompt of a session; added to each request of its turn, not stored. */
	const contexts = new Map();

	const onPrompt = async ({ sessionID, prompt }) => remember(contexts, sessionID, await memory.prompt(sessionID, String(prompt?.text ?? "")));

	const onContext = ({ sessionID, kind, messages }) => {
		const text = contexts.get(sessionID);
		const index = messages.findLastIndex((message) => message.role === "user");
		if (!text || index < 0 || (kind && kind !== "primary")) return;
		const message = messages[index];
		const content = [...message.content, { type: "text", text }];
		messages[index] = Object.assign(Object.create(Object.getPrototypeOf(message)), message, { content });
	};

	const onToolEnd = async (event) => {
		const { tool, sessionID, id, input, status, result, error } = event;
		const isError = status === "error";
		const output = isError ? String(error?.message ?? error) : resultText(result);
		const exitCode = result?.metadata?.exit ?? result?.output?.exit;
		const text = await memory.toolEnd(sessionID, id, { tool_name: tool, tool_input: input, output, exitCode, isError });
		if (!text) return;
		if (isError) error.message = joined(output, text);
		else event.result = { ...result, content: [{ type: "text", text: output }, { type: "text", text }] };
	};

	const onEvent = async ({ type, data }) => {
		if (type === "session.text.ended") memory.rememberText(data.sessionID, data.text);
		if (/^session\.execution\.(succeeded|failed|interrupted)$/.test(type)) await memory.report(data.sessionID, "turn_end");
		if (type === "session.compaction.ended") await memory.report(data.sessionID, "compacted");
		if (type === "session.deleted" && memory.knows(data.sessionID)) await memory.report(data.sessionID, "session_end");
	};

	const stop = new AbortController();
	const listen = guarded(async () => {
		for await (const event of ctx.event.subscribe({ signal: stop.signal })) await guarded(onEvent)(event);
	});
	const hook = guarded((domain, name, handler) => ctx[domain].hook(name, guarded(handler)));
	await hook("session", "prompt", onPrompt);
	await hook("session", "context", onContext);
	await hook("session", "compaction", ({ sessionID }) => memory.report(sessionID, "compacting"));
	await hook("tool", "execute.before", ({ sessionID, id, tool, input }) => memory.toolStart(sessionID, id, tool, input));
	await hook("tool", "execute.after", onToolEnd);
	void listen();
	return guarded(async () => {
		stop.abort();
		await memory.exit();
	});
}

// OpenCode 1.x and Kilo call `server`, OpenCode 2.x calls `setup`.
export default { id: "rethread", server, setup };
