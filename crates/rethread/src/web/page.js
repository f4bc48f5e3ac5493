// Live updates, search while typing, and keyboard shortcuts. Every page also works without this script.
"use strict";

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const main = document.getElementById("main");

// Updates the page in place: equal nodes stay, nodes with an id are moved, the rest is replaced. Keeps scroll and
// focus.

const PRESERVED = new Set(["open"]);

function morph(old, fresh) {
  if (old.isEqualNode(fresh) || old.hasAttribute("data-keep") || isLoaded(old)) return;
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !PRESERVED.has(name)) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (!PRESERVED.has(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  const typing = old === document.activeElement && old.matches("input, select");
  if (!typing) morphChildren(old, fresh);
}

function morphChildren(old, fresh) {
  const known = new Map([...old.children].filter((child) => child.id).map((child) => [child.id, child]));
  let at = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const same = wanted.id ? known.get(wanted.id) : null;
    // A node whose element type changed is replaced.
    if (same?.nodeName === wanted.nodeName) {
      if (same !== at) old.insertBefore(same, at);
      else at = at.nextSibling;
      if (same.matches(".card") && words(same) !== words(wanted)) flash(same);
      morph(same, wanted);
      continue;
    }
    const alike = at && at.nodeType === wanted.nodeType && at.nodeName === wanted.nodeName && !at.id && !wanted.id;
    if (alike && at.nodeType === Node.ELEMENT_NODE) {
      const next = at.nextSibling;
      morph(at, wanted);
      at = next;
    } else if (alike) {
      if (at.data !== wanted.data) at.data = wanted.data;
      at = at.nextSibling;
    } else {
      const made = document.importNode(wanted, true);
      old.insertBefore(made, at);
      if (made.nodeType === Node.ELEMENT_NODE && made.matches(".card")) flash(made);
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

// The text of a card without its age.
function words(card) {
  return all("h3, .state, .last-prompt, .doing, .numbers", card).map((part) => part.textContent).join("\n");
}

function flash(card) {
  card.classList.remove("fresh");
  requestAnimationFrame(() => card.classList.add("fresh"));
  card.addEventListener("animationend", () => card.classList.remove("fresh"), { once: true });
}

async function fetchPage(address, signal) {
  const answer = await fetch(address, { headers: { Accept: "text/html" }, signal });
  // No longer signed in: reload to get the sign-in page.
  if (answer.status === 401) location.reload();
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

// Live updates. Browsers allow six connections per server, so only a visible page holds one.

const QUIET = 400;
let source = null;
let waiting = null;
let busy = false;
let again = false;

function listen() {
  if (source || !main?.hasAttribute("data-live") || document.hidden) return;
  const pulse = document.getElementById("pulse");
  source = new EventSource("/api/events");
  source.addEventListener("open", () => {
    pulse.hidden = false;
    // Events may have been missed while disconnected.
    if (pulse.classList.contains("lost")) soon();
    pulse.classList.remove("lost");
    pulse.title = "Live: this page updates by itself";
  });
  source.addEventListener("changed", (event) => {
    if (!isOurs(event.data)) return;
    pulse.classList.remove("beat");
    requestAnimationFrame(() => pulse.classList.add("beat"));
    soon();
  });
  source.addEventListener("lagged", soon);
  source.addEventListener("error", (event) => {
    // Events of the server that are named "error" are failed runs, not a lost connection.
    if (event instanceof MessageEvent) return;
    pulse.classList.add("lost");
    pulse.title = "Disconnected; reconnecting";
    // An error response closes the source for good. Reloading the page shows the sign-in page if the token was rotated.
    if (source.readyState !== EventSource.CLOSED) return;
    disconnect();
    refresh();
    setTimeout(listen, 5000);
  });
}

// A page about one session ignores changes of others.
function isOurs(data) {
  const { sessions } = JSON.parse(data);
  const own = main.dataset.session;
  return !own || !sessions?.length || sessions.includes(own);
}

// Wait a moment, because changes come in bursts, but do not extend the wait with each one.
function soon() {
  waiting ??= setTimeout(refresh, QUIET);
}

function disconnect() {
  source?.close();
  source = null;
  clearTimeout(waiting);
  waiting = null;
}

async function refresh() {
  waiting = null;
  // A name that is being typed stays; saving or leaving it refreshes.
  if (document.querySelector("[data-editing]")) return;
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  try {
    const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 120;
    let page = await fetchPage(liveAddress());
    // The reader began to type a name meanwhile.
    if (document.querySelector("[data-editing]")) return;
    // A conversation that outgrew its page goes on with its last entries for those who read its end.
    const wasEnd = document.querySelector(".talk #end");
    if (isAtEnd && wasEnd && !page.getElementById("end")) page = await fetchPage(lastAddress());
    const focused = document.activeElement?.closest?.("[data-item]")?.id;
    const pin = document.activeElement?.dataset?.pin;
    morph(main, page.getElementById("main"));
    document.title = page.title;
    // An item that moved to another group is a new element.
    if (pin) document.querySelector(`[data-pin="${CSS.escape(pin)}"]`)?.focus({ preventScroll: true });
    const item = focused && !main.contains(document.activeElement) && document.getElementById(focused);
    if (item) handle(item).focus({ preventScroll: true });
    afterChange();
    if (isAtEnd && document.querySelector(".talk")) scrollTo({ top: document.documentElement.scrollHeight });
  } catch {
    // The server is gone or busy; the next event tries again.
  } finally {
    busy = false;
    if (again) {
      again = false;
      soon();
    }
  }
}

// A conversation keeps its first entry while it grows at the end.
function liveAddress() {
  const address = new URL(location.href);
  address.hash = "";
  const entries = document.querySelector(".entries[data-from]");
  const isPiece = ["line", "from", "until"].some((name) => address.searchParams.has(name));
  if (entries && (!isPiece || document.getElementById("end"))) {
    ["line", "until"].forEach((name) => address.searchParams.delete(name));
    address.searchParams.set("from", entries.dataset.from);
  }
  return address;
}

// The last entries of a conversation, in the same view.
function lastAddress() {
  const address = liveAddress();
  address.searchParams.delete("from");
  address.searchParams.set("last", "1");
  return address;
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) return disconnect();
  listen();
  if (main?.hasAttribute("data-live")) refresh();
});
addEventListener("pagehide", disconnect);
addEventListener("pageshow", (event) => event.persisted && listen());
listen();

// Ages are updated by the clock of the server.

const ahead = Date.parse(main?.dataset.now) - Date.now() || 0;

function age(then) {
  const minutes = Math.floor((Date.now() + ahead - then) / 60000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes}m`;
  return minutes < 1440 ? `${Math.floor(minutes / 60)}h` : `${Math.floor(minutes / 1440)}d`;
}

setInterval(() => all("time[data-age]").forEach((time) => {
  const ago = age(Date.parse(time.dateTime));
  const text = time.dataset.age === "ago" && ago !== "just now" ? `${ago} ago` : ago;
  if (time.textContent !== text) time.textContent = text;
}), 20000);

// Search while typing; a newer query aborts the running one.

const search = document.querySelector("form[data-search]");
let asking = null;
let typed = null;

async function find() {
  const words = new URLSearchParams([...new FormData(search)].filter(([, value]) => value !== ""));
  const address = `/search${words.size ? `?${words}` : ""}`;
  asking?.abort();
  asking = new AbortController();
  const results = document.getElementById("results");
  results.setAttribute("aria-busy", "true");
  try {
    const page = await fetchPage(address, asking.signal);
    morphChildren(results, page.getElementById("results"));
    results.removeAttribute("aria-busy");
    document.title = page.title;
    history.replaceState(null, "", address);
    afterChange();
    document.dispatchEvent(new Event("found"));
  } catch (error) {
    if (error.name !== "AbortError") results.removeAttribute("aria-busy");
  }
}

if (search) {
  search.addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(find, 120);
  });
  search.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(typed);
    find();
  });
  const field = search.querySelector("[data-find]");
  field.setSelectionRange(field.value.length, field.value.length);
}

// A span that ends now and a range of days exclude each other: what was set last counts.

document.addEventListener("input", ({ target }) => {
  const [span, ...days] = target.form?.dataset.excludes?.split(" ") ?? [];
  if (!span || !target.value) return;
  const others = target.name === span ? days : days.includes(target.name) ? [span] : [];
  others.forEach((name) => { target.form.elements[name].value = ""; });
}, { capture: true });

// Filters apply when they change.

document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-filters]");
  if (!form || !event.target.matches("[data-submit]")) return;
  const words = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
  location.assign(`${form.getAttribute("action")}${words.size ? `?${words}` : ""}`);
});

// Keyboard shortcuts.

const items = () => all("[data-item]", main).filter((item) => item.checkVisibility());
const handle = (item) => item.querySelector(":scope > summary, :scope :is(h2, h3) a, :scope > .name a, :scope a.line, :scope a") ?? item;

function current(list) {
  const item = document.activeElement?.closest?.("[data-item]");
  return item ? list.indexOf(item) : -1;
}

function move(step, list = items()) {
  if (!list.length) return;
  let at = current(list);
  if (at < 0) {
    // Start at the visible part, not at the top.
    at = list.findIndex((item) => item.getBoundingClientRect().top > 60);
    at = at < 0 ? list.length - 1 : at;
    if (step < 0) at = Math.max(0, at - 1);
  } else {
    at = Math.min(list.length - 1, Math.max(0, at + step));
  }
  const target = handle(list[at]);
  if (target === list[at]) target.tabIndex = -1;
  target.focus({ preventScroll: true });
  list[at].scrollIntoView({ block: "nearest" });
}

function prompts(step) {
  const list = items().filter((item) => item.matches(".entry.prompt"));
  const tops = list.map((item) => item.getBoundingClientRect().top);
  const line = 90;
  const at = step > 0 ? tops.findIndex((top) => top > line + 2) : tops.findLastIndex((top) => top < line - 2);
  if (at < 0) return;
  scrollBy({ top: tops[at] - line });
  handle(list[at]).focus({ preventScroll: true });
}

function fold() {
  const folded = all(".talk details");
  const isOpening = folded.some((one) => !one.open);
  folded.forEach((one) => { one.open = isOpening; });
}

function toSearch() {
  const field = all("[data-find]").find((one) => one.checkVisibility());
  if (!field) return location.assign("/search");
  field.focus();
  field.select();
}

const keys = document.getElementById("keys");
let leader = 0;

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const isTyping = event.target.matches?.("input, select, textarea");
  if (event.key === "Escape" && isTyping) return event.target.blur();
  if (search && isTyping && event.target.matches("[data-find]") && event.key === "ArrowDown") {
    event.preventDefault();
    return move(1, items());
  }
  if (isTyping || document.querySelector("dialog[open]")) return;
  const place = Date.now() - leader < 1200 && document.querySelector(`a[data-key="${CSS.escape(event.key)}"]`);
  leader = 0;
  if (place) {
    event.preventDefault();
    return location.assign(place.href);
  }
  const inHits = search && document.activeElement?.closest(".hit");
  const actions = {
    "/": toSearch,
    "?": () => keys?.showModal(),
    g: () => { leader = Date.now(); },
    j: () => move(1),
    k: () => move(-1),
    n: () => prompts(1),
    p: () => prompts(-1),
    e: fold,
    f: toFind,
    "[": () => neighbor(-1),
    "]": () => neighbor(1),
    "<": () => neighbor(-1),
    ">": () => neighbor(1),
    ...(inHits && { ArrowDown: () => move(1), ArrowUp: () => (current(items()) > 0 ? move(-1) : toSearch()) }),
  };
  const action = Object.hasOwn(actions, event.key) && actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

document.addEventListener("keydown", pressed);

// The theme: system, light or dark.

const THEMES = { system: "system", light: "light", dark: "dark" };
const themeButton = document.getElementById("theme");

function theme() {
  return document.documentElement.dataset.theme ?? "system";
}

function showTheme() {
  themeButton.setAttribute("aria-label", `Theme: ${THEMES[theme()]}`);
  themeButton.title = `Theme: ${THEMES[theme()]}`;
}

themeButton?.addEventListener("click", () => {
  const isDark = theme() === "dark" || (theme() === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  const wanted = isDark ? "light" : "dark";
  const isSystem = matchMedia(`(prefers-color-scheme: ${wanted})`).matches;
  // Choosing the system's theme follows the system again.
  if (isSystem) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = wanted;
  try {
    if (isSystem) localStorage.removeItem("theme");
    else localStorage.setItem("theme", wanted);
  } catch {
    // Storage is blocked: the theme applies to this page only.
  }
  showTheme();
});
if (themeButton) {
  themeButton.hidden = false;
  showTheme();
}

const help = document.getElementById("help");
if (help) {
  help.hidden = false;
  help.addEventListener("click", () => keys.showModal());
  keys.addEventListener("click", (event) => event.target === keys && keys.close());
}

// Copy buttons: of the command before them, of a text, or of a link to a page.

const COPIES = "[data-copy], [data-copy-text], [data-copy-link]";

function textToCopy({ dataset, previousElementSibling }) {
  if (dataset.copyLink) return new URL(dataset.copyLink, location.href).href;
  return dataset.copyText ?? previousElementSibling.textContent;
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest(COPIES);
  if (!button) return;
  try {
    await navigator.clipboard.writeText(textToCopy(button));
  } catch {
    return notify("The browser does not allow copying. Select the text and copy it yourself.");
  }
  const label = button.textContent;
  if (label === "Copied") return;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = label; }, 1500);
});

// Shows the copy buttons of new content, and lets other parts look at it.

function afterChange() {
  if (navigator.clipboard) all(COPIES).forEach((button) => { button.hidden = false; });
  document.dispatchEvent(new Event("refreshed"));
}
afterChange();

// Opens the folds around a linked line, and the call itself if its text was searched.

function unfold() {
  const target = location.hash.startsWith("#L") && document.getElementById(location.hash.slice(1));
  if (!target) return;
  for (let one = target.parentElement?.closest("details"); one; one = one.parentElement?.closest("details")) {
    if (!one.open && (one.matches(".calls") || document.querySelector(".found"))) one.open = true;
  }
  target.scrollIntoView({ block: "start" });
}
addEventListener("hashchange", unfold);
unfold();

// Marks the visible prompt in the list of prompts.

const list = document.querySelector(".prompts ol");

function markPrompt() {
  const passed = all(".entry.prompt").filter((entry) => entry.getBoundingClientRect().top < 140);
  const line = (passed.at(-1) ?? document.querySelector(".entry.prompt"))?.querySelector(".anchor")?.id;
  for (const link of all("a", list)) {
    const isHere = Boolean(line) && link.hash === `#${line}`;
    link.classList.toggle("here", isHere);
    if (isHere) list.scrollTop = link.offsetTop - list.offsetTop - list.clientHeight / 2;
  }
}

if (list) {
  let isDrawing = false;
  addEventListener("scroll", () => {
    if (isDrawing) return;
    isDrawing = true;
    requestAnimationFrame(() => {
      isDrawing = false;
      markPrompt();
    });
  }, { passive: true });
  markPrompt();
}

// A conversation that goes on opens at its end, unless the reader comes back to a place in it.

const isFirstVisit = performance.getEntriesByType("navigation")[0]?.type === "navigate";
if (isFirstVisit && !location.hash && document.querySelector("[data-opens-at-end]")) {
  scrollTo({ top: document.documentElement.scrollHeight });
}

// A drawing can be zoomed and dragged. It starts fitted, but never smaller than it can be read.

const READABLE = 0.86;

function zoom(box, step) {
  const drawing = box.querySelector("svg");
  const { width, height } = drawing.viewBox.baseVal;
  const now = drawing.width.baseVal.value / width;
  const fit = Math.min((box.clientWidth - 2) / width, (innerHeight * 0.8 - 2) / height, 1);
  const steps = { start: Math.max((box.clientWidth - 2) / width, READABLE), fit, 1: 1 };
  const scale = Math.min(Math.max(steps[step] ?? now * Number(step), 0.1), step === "start" ? 1 : 4);
  drawing.setAttribute("width", Math.round(width * scale));
  drawing.setAttribute("height", Math.round(height * scale));
}

function drawing(box) {
  zoom(box, "start");
  // The center may be far below the first rows.
  const middle = box.querySelector(".middle")?.getBoundingClientRect();
  if (middle) box.scrollTop += middle.top - box.getBoundingClientRect().top - box.clientHeight / 2;
  box.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(box, event.deltaY < 0 ? "1.1" : "0.9");
  }, { passive: false });
  let from = null;
  let hasMoved = false;
  box.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    hasMoved = false;
    from = { x: event.clientX + box.scrollLeft, y: event.clientY + box.scrollTop };
  });
  addEventListener("pointermove", (event) => {
    if (!from) return;
    const [left, top] = [from.x - event.clientX, from.y - event.clientY];
    hasMoved ||= Math.abs(left - box.scrollLeft) + Math.abs(top - box.scrollTop) > 4;
    if (hasMoved) box.scrollTo(left, top);
  });
  addEventListener("pointerup", () => { from = null; });
  // Dragging is not following a link, and links are not dragged out of the page.
  box.addEventListener("dragstart", (event) => event.preventDefault());
  box.addEventListener("click", (event) => hasMoved && event.preventDefault(), { capture: true });
}

all("[data-drawing]").forEach(drawing);

// The relations of the node under the pointer, or of the focused one, stand out.

function showRelations(node) {
  const graph = document.querySelector("svg.graph");
  if (!graph) return;
  const of = node?.dataset.node;
  graph.classList.toggle("focused", of !== undefined);
  all(".edge", graph).forEach((edge) => edge.classList.toggle("near", edge.dataset.ends.split(" ").includes(of)));
}

for (const event of ["mouseover", "focusin"]) {
  document.addEventListener(event, ({ target }) => target.closest?.(".drawing") && showRelations(target.closest("a.node")));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-zoom]");
  const box = document.querySelector("[data-drawing]");
  if (button && box) zoom(box, button.dataset.zoom);
});
