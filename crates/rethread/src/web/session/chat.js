
// The chat box of a thread: sends over the WebSocket, shows the answer while it arrives, and can stop it.

const chat = document.querySelector("[data-chat]");

class ThreadChat {
  constructor(box) {
    this.box = box;
    this.id = box.dataset.chat;
    this.form = box.querySelector("[data-chat-form]");
    this.field = this.form.elements.text;
    this.answer = box.querySelector("[data-answering]");
    this.partial = box.querySelector("[data-partial]");
    this.tools = box.querySelector("[data-used-tools]");
    this.stopButton = box.querySelector("[data-stop]");
    this.status = box.querySelector("[data-chat-status]");
    this.pending = null;
    this.wait = 500;
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.form.requestSubmit();
    });
    this.stopButton.addEventListener("click", () => this.write({ type: "cancel", sessionId: this.id }));
    this.connect();
  }

  connect() {
    const address = new URL(`/ws?session=${encodeURIComponent(this.id)}`, location.href);
    address.protocol = address.protocol.replace("http", "ws");
    this.socket = new WebSocket(address);
    this.socket.addEventListener("open", () => {
      this.wait = 500;
      // Sent again with the same id after a lost connection; the server runs it once.
      if (this.pending) {
        this.say("Sending …");
        this.write(this.pending);
      }
    });
    this.socket.addEventListener("message", (event) => this.receive(JSON.parse(event.data)));
    this.socket.addEventListener("close", () => {
      if (this.pending) this.waitForServer();
      if (document.hidden) return;
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(this.wait * 2, 10000);
    });
  }

  write(frame) {
    const isOpen = this.socket.readyState === WebSocket.OPEN;
    if (isOpen) this.socket.send(JSON.stringify(frame));
    return isOpen;
  }

  // Without a text, the model answers the last message again.
  send(isAgain = false) {
    const text = isAgain ? undefined : this.field.value.trim();
    if ((!text && !isAgain) || this.pending) return;
    const clientId = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
    this.pending = { type: "send_message", sessionId: this.id, text, memory: this.form.elements.memory.checked, clientId };
    this.say("Sending …");
    if (!this.write(this.pending)) this.waitForServer();
  }

  // The message is sent again with the same id when the connection is back.
  waitForServer() {
    this.say("Not connected. The message is sent when the server is back.", true);
    this.offer("Cancel", () => {
      this.pending = null;
      this.say("");
    });
  }

  // A button beside the status.
  offer(label, action) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: label });
    button.addEventListener("click", action);
    this.status.append(" ", button);
  }

  say(text, isBad = false) {
    this.hasError = false;
    this.status.textContent = text;
    this.status.classList.toggle("bad", isBad);
  }

  // Shows that a run goes on, or that it has ended.
  running(isRunning) {
    this.answer.hidden = !isRunning;
    this.stopButton.hidden = !isRunning;
    if (isRunning) return;
    this.partial.textContent = "";
    this.tools.replaceChildren();
  }

  tool(id, name) {
    const item = document.createElement("li");
    item.dataset.call = id;
    item.textContent = `${name} …`;
    this.tools.append(item);
  }

  receive(frame) {
    if (frame.sessionId && frame.sessionId !== this.id) return;
    const known = {
      accepted: () => {
        if (frame.clientId !== this.pending?.clientId) return;
        if (this.pending.text) this.field.value = "";
        this.pending = null;
        this.say(frame.ahead > 0 ? `Waiting for ${frame.ahead} other turns` : "");
      },
      run_start: () => {
        this.say("");
        this.running(true);
      },
      status: () => {
        if (!frame.partialText) return;
        this.running(true);
        this.partial.textContent = frame.partialText;
      },
      stream_delta: () => {
        this.running(true);
        this.partial.textContent += frame.delta;
        this.keepInView();
      },
      tool_start: () => this.tool(frame.toolCallId, frame.toolName),
      tool_result: () => {
        const item = all("li", this.tools).find((one) => one.dataset.call === frame.record.toolCallId);
        if (item) item.textContent = `${item.textContent.replace(/ …$/, "")} ${frame.record.isError ? "failed" : "done"}`;
      },
      message_complete: () => {
        if (frame.record.role === "assistant") this.partial.textContent = "";
        refresh();
      },
      run_end: () => {
        this.running(false);
        const words = { aborted: "Stopped.", error: "The run failed.", length: "The answer was cut off at the model's length limit.", toolCalls: "The model is waiting for tool results." };
        const isError = frame.stopReason === "error";
        // An error event of the run has said why.
        if (words[frame.stopReason] && !(isError && this.hasError)) this.say(words[frame.stopReason], isError);
        if (isError) this.offer("Try again", () => this.send(true));
        refresh().then(() => this.keepInView());
      },
      error: () => {
        if (frame.clientId && frame.clientId === this.pending?.clientId) this.pending = null;
        // After a run that failed, a button offers what the hint says.
        this.say(frame.hint && !frame.runId ? `${frame.message}: ${frame.hint}` : frame.message, true);
        this.hasError = true;
      },
    };
    if (Object.hasOwn(known, frame.type)) known[frame.type]();
  }

  keepInView() {
    const { bottom } = this.box.getBoundingClientRect();
    if (bottom > innerHeight && bottom < innerHeight + 400) this.box.scrollIntoView({ block: "end" });
  }
}

if (chat) {
  const open = new ThreadChat(chat);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && open.socket.readyState === WebSocket.CLOSED) open.connect();
  });
}

document.addEventListener("click", async (event) => {
  if (!event.target.closest("[data-new-thread]")) return;
  try {
    const answer = await fetch("/api/sessions", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
    const made = await answer.json();
    if (answer.ok) location.assign(`/sessions/${made.session.id}`);
    else notify(made.error.message);
  } catch {
    notify("The server does not answer. No thread was created.");
  }
});
