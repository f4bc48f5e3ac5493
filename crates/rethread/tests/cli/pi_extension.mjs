// Runs the pi extension against a stub of pi that behaves as pi does: once a session is replaced, everything of it throws.
// usage: node pi_extension.mjs EXTENSION
// Prints one JSON object with what happened; exits with 1 if anything was thrown out of the extension.

const problems = [];
for (const kind of ["uncaughtException", "unhandledRejection"]) process.on(kind, (error) => problems.push(`${kind}: ${error}`));

// Timers are run by hand, so that nothing depends on time.
const timers = new Map();
globalThis.setTimeout = (callback, ms) => {
	const timer = { callback, ms, unref: () => timer };
	timers.set(timer, timer);
	return timer;
};
const cleared = [];
globalThis.clearTimeout = (timer) => timers.delete(timer) && cleared.push(timer);

let isStale = false;
const live = (value) => {
	if (isStale) throw new Error("This extension ctx is stale after session replacement or reload.");
	return value;
};
const shown = [];
let name;
const ui = {
	setStatus: (key, text) => live(shown.push({ key, text })),
	notify: (text, kind) => live(shown.push({ notice: text, kind })),
	addAutocompleteProvider: (factory) => live((completion = factory({ getSuggestions: async () => "theirs" }))),
};
const sessionManager = {
	getSessionId: () => live("0199aaaa-0000-7000-8000-00000000000a"),
	getSessionFile: () => live("/sessions/a.jsonl"),
	getSessionName: () => live(name),
};
const ctx = {
	get ui() { return live(ui); },
	get cwd() { return live(process.cwd()); },
	get sessionManager() { return live(sessionManager); },
	waitForIdle: async () => live(undefined),
	newSession: async () => { isStale = true; throw new Error("the old session is gone"); },
};
const handlers = {}, commands = {};
let completion, tool;
const pi = {
	on: (event, handler) => (handlers[event] = handler),
	registerTool: (one) => (tool = one),
	registerCommand: (name, one) => (commands[name] = one.handler),
	sendMessage: () => live(undefined),
	setSessionName: (text) => live((name = text)),
};

const call = async (what, use) => {
	try {
		const result = await use();
		if (result !== undefined) problems.push(`${what} returned ${JSON.stringify(result)}`);
	} catch (error) {
		problems.push(`${what} threw ${error}`);
	}
};
const circular = { path: "a.txt" };
circular.self = circular;
const events = {
	session_start: { reason: "startup" },
	before_agent_start: { prompt: "hello" },
	tool_call: { toolName: "write", input: circular },
	tool_result: { toolName: "write", input: circular, isError: true, content: [{ type: "text", text: "no" }] },
	agent_end: { messages: [{ role: "assistant", content: "done" }, null] },
	session_before_compact: {},
	session_compact: {},
	session_shutdown: { reason: "new" },
};

(await import(process.argv[2])).default(pi);
const names = Object.keys(commands);
// An event that cannot be serialized must not stop the events after it.
for (const event of Object.keys(events).filter((event) => event !== "session_shutdown")) {
	await call(event, () => handlers[event](events[event], ctx));
}
await call("the card command", () => commands[names[0]]("", ctx));
const waiting = [...timers.keys()].map((timer) => timer.ms);
await call("session_shutdown", () => handlers.session_shutdown(events.session_shutdown, ctx));
const left = [...timers.keys()];

isStale = true;
for (const timer of [...left, ...cleared]) await call("a timer", async () => void timer.callback());
for (const event in events) {
	await call(`stale ${event}`, () => handlers[event](events[event], ctx));
	await call(`empty ${event}`, () => handlers[event]({}, ctx));
}
for (const command of names) await call(`stale ${command}`, () => commands[command]("", ctx));
const suggestions = await completion.getSuggestions(["see @@nothing"], 0, 13, {});
isStale = false;
await call("a command that replaces its session", () => commands[names[1]]("", ctx));
await new Promise((resolve) => setImmediate(resolve));
console.log(JSON.stringify({ problems, waiting, left: left.length, shown, suggestions, names, tool: tool.name, name }));
process.exit(problems.length ? 1 : 0);
