// Rethread for pi. Written by `rethread install`; `rethread uninstall pi` removes it, and an update overwrites it.
//
// Tells Rethread what happens in this session, and adds what Rethread has to say about the other sessions of the
// project as a message of type "session-update". It blocks no tool, throws nothing, and keeps pi waiting for five
// seconds at most, in practice for milliseconds. It registers no tool, no command and no setting.
// RETHREAD_DISABLE=1 in the environment switches it off.

import { spawn } from "node:child_process";

const PROGRAM = "@BINARY@";
const PATIENCE_MS = 5000;
/** Who did not answer in time is left alone for so long. */
const REST_MS = 60000;
let restsUntil = 0;
/** Tools that change files, or may do so. */
const CHANGING = ["edit", "write", "bash"];

type Message = { customType: string; content: string };

/** Gives one event to Rethread. Its answer, or nothing, whatever goes wrong and however long it takes. */
function ask(said: object, patience: number): Promise<Message | undefined> {
	return new Promise((resolve) => {
		if (patience <= 0 || Date.now() < restsUntil) return resolve(undefined);
		try {
			const child = spawn(PROGRAM, ["hook", "pi"], { stdio: ["pipe", "pipe", "ignore"] });
			const timer = setTimeout(() => {
				restsUntil = Date.now() + REST_MS;
				child.kill("SIGKILL");
				// Whatever still holds them must not keep pi from ending.
				for (const pipe of [child.stdin, child.stdout]) pipe.destroy();
				resolve(undefined);
			}, patience);
			const end = (heard: string) => {
				clearTimeout(timer);
				resolve(read(heard));
			};
			let heard = "";
			child.stdout.setEncoding("utf8").on("data", (text: string) => (heard += text));
			for (const pipe of [child.stdin, child.stdout]) pipe.on("error", () => {});
			child.on("error", () => end(""));
			child.on("close", () => end(heard));
			child.stdin.end(JSON.stringify(said));
		} catch {
			resolve(undefined);
		}
	});
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

	pi.on("session_start", (e: any, ctx: any) => void tell("session_start", ctx, { reason: e.reason }));

	pi.on("before_agent_start", async (e: any, ctx: any) => {
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

	pi.on("tool_result", (e: any, ctx: any) => {
		if (!CHANGING.includes(e.toolName)) return;
		const output = textOf(e.content);
		const result = { is_error: !!e.isError, error: e.isError ? output : undefined, output_chars: output.length };
		void tell("tool_result", ctx, { tool_name: e.toolName, tool_input: e.input, ...result });
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
}
