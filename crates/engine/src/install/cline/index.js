// Rethread for Cline. Written by `rethread install`; `rethread uninstall cline` removes it, and an update overwrites it.
//
// Sends the events of a session to Rethread, and adds its context: about other sessions after a prompt, about a known
// fix after a failed command. It never blocks a tool, and delays Cline by milliseconds, at most by two seconds.
// RETHREAD_DISABLE=1 in the environment disables it.

const { spawn } = require("node:child_process");

const PROGRAM = "@BINARY@";
/** Cline reports an error to the user if a hook takes three seconds. */
const EVENT_TIMEOUT_MS = 2000;
/** After a timeout, no events are sent for this long. */
const PAUSE_MS = 60000;
/** Cline ends this process when a session ends, and also after half an hour without a run, when the session goes on. */
const IDLE_MS = 25 * 60000;
/** Cline waits 300 ms for this process to exit. */
const EXIT_MS = 250;
/** How much of an error's beginning, and of its end, is sent. */
const ERROR_CHARS = 4000;
const EDITS = ["editor", "apply_patch"];
const SHELL = "run_commands";

function attempt(use) {
	try {
		return use();
	} catch {
		return undefined;
	}
}

/** A handler that never throws or rejects. */
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
			const child = spawn(PROGRAM, ["hook", "cline"], { stdio: ["pipe", "pipe", "ignore"] });
			child.on("error", () => end(""));
			let output = "";
			child.on("close", () => end(output));
			timer = setTimeout(() => {
				attempt(() => child.kill("SIGKILL"));
				// A child of the process may hold the pipes open; that must not keep Cline from exiting.
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
/** The answer of a hook; undefined if there is nothing to say. */
const withContext = (text) => (text ? { appendContext: text } : undefined);

function textOf(content) {
	if (!Array.isArray(content)) return typeof content === "string" ? content : "";
	return content.map((part) => (part?.type === "text" ? String(part.text) : "")).join("");
}

const USER_INPUT = /<user_input\b[^>]*>([\s\S]*?)<\/user_input>/;
/** The messages that a human typed, with the text without Cline's tags. */
function promptsOf(messages) {
	return messages.flatMap((message) => {
		const typed = message.role === "user" && USER_INPUT.exec(textOf(message.content));
		return typed ? [{ id: message.id, text: typed[1] }] : [];
	});
}

/** One entry per command or file of a tool call: Cline runs several of them in one call. */
function resultsOf(tool, input, { output, isError }) {
	const items = Array.isArray(output) ? output : [output];
	return items.map((item) => {
		const shown = typeof item === "string" ? item : item?.result || item?.error || "";
		// Cline's own lines would hide the line that identifies the error.
		const text = String(shown).replace(/^\[(Command exited with code \d+|stderr|stdout)\]\n+/gm, "");
		const code = /exited with code (\d+)/.exec(item?.error ?? "");
		const tool_input = tool === SHELL ? { command: String(item?.query ?? "") } : input;
		return { tool_input, text, exitCode: code && Number(code[1]), hasFailed: !!isError || item?.success === false };
	});
}

// Cline starts a process for each session and calls `setup` with its ID. Without an ID it only asks what the plugin offers.
let session;
let isStarted = false;
let lastPromptId;
let lastRunAt = 0;

const fieldsOf = ({ agentId, parentAgentId }) => ({ ...session, agent_id: parentAgentId ? agentId : undefined });

async function beforeRun({ snapshot }) {
	if (!session || snapshot.parentAgentId) return undefined;
	const prompts = promptsOf(snapshot.messages);
	const prompt = prompts.at(-1);
	if (!prompt || prompt.id === lastPromptId) return undefined;
	lastPromptId = prompt.id;
	const deadline = newDeadline();
	const source = prompts.length > 1 ? "resume" : "startup";
	const start = isStarted ? "" : await notify({ event: "session_start", ...session, source }, deadline);
	isStarted = true;
	return withContext(joined(start, await notify({ event: "prompt", ...session, prompt: prompt.text }, deadline)));
}

async function beforeTool({ snapshot, tool, input }) {
	if (!session) return undefined;
	const commands = attempt(() => JSON.stringify(input?.commands)) ?? "";
	const isGit = tool.name === SHELL && /\bgit\b/.test(commands);
	if (!EDITS.includes(tool.name) && !isGit) return undefined;
	const tool_input = isGit ? { command: input.commands.map((one) => one?.command ?? one).join(" && ") } : input;
	return withContext(await notify({ event: "tool_start", ...fieldsOf(snapshot), tool_name: tool.name, tool_input }));
}

async function afterTool({ snapshot, tool, input, result }) {
	if (!session) return undefined;
	const answers = [];
	const deadline = newDeadline();
	for (const { tool_input, text, exitCode, hasFailed } of resultsOf(tool.name, input, result)) {
		if (!hasFailed && tool.name !== SHELL && !EDITS.includes(tool.name)) continue;
		const error = text.length > 2 * ERROR_CHARS ? `${text.slice(0, ERROR_CHARS)}\n…\n${text.slice(-ERROR_CHARS)}` : text;
		const end = {
			event: "tool_end",
			...fieldsOf(snapshot),
			tool_name: tool.name,
			tool_input,
			output_chars: text.length,
			exit_code: exitCode ?? (tool.name === SHELL && !hasFailed ? 0 : undefined),
			is_error: hasFailed && exitCode === null,
			error: hasFailed ? error : undefined,
		};
		const answer = notify(end, deadline);
		// There is only an answer for failures, so only then wait for it.
		if (hasFailed) answers.push(await answer);
	}
	return withContext(joined(...answers));
}

// Waits, because Cline ends this process soon after the last run.
async function afterRun({ snapshot, result }) {
	if (!session || snapshot.parentAgentId) return;
	lastRunAt = Date.now();
	await notify({ event: "turn_end", ...session, last_assistant_message: String(result?.outputText ?? "") });
}

/** Nothing else shows that a session ended. */
function onTerminate() {
	const exit = () => process.exit(0);
	setTimeout(exit, EXIT_MS);
	if (!isStarted || Date.now() - lastRunAt > IDLE_MS) return exit();
	void notify({ event: "session_end", ...session, reason: "exit" }).then(exit);
}

function setup(_, ctx) {
	const id = ctx?.session?.sessionId;
	if (!id || (process.env.RETHREAD_DISABLE && process.env.RETHREAD_DISABLE !== "0")) return;
	session = { session_id: id, cwd: ctx.workspaceInfo?.rootPath ?? process.cwd() };
	process.once("SIGTERM", onTerminate);
}

module.exports = {
	name: "rethread",
	manifest: { capabilities: ["hooks"] },
	setup: (...args) => attempt(() => setup(...args)),
	hooks: {
		beforeRun: guarded(beforeRun),
		beforeTool: guarded(beforeTool),
		afterTool: guarded(afterTool),
		afterRun: guarded(afterRun),
	},
};
