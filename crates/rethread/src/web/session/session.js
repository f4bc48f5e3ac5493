
// An open session: the list beside it, links to lines, the search within, and menus.

const rail = document.querySelector(".rail-list");

function showCurrent() {
  const current = rail?.querySelector("[aria-current]");
  if (current) rail.scrollTop = current.offsetTop - rail.offsetTop - rail.clientHeight / 3;
}
showCurrent();

function neighbor(step) {
  const links = rail ? all("a", rail) : [];
  const at = links.findIndex((link) => link.hasAttribute("aria-current"));
  const next = links[at + step];
  if (next) location.assign(next.href);
}

function filterRail() {
  const field = document.querySelector("[data-filter-list]");
  const words = field?.value.toLowerCase().split(/\s+/).filter(Boolean) ?? [];
  for (const list of rail ? all(":scope > ol", rail) : []) {
    [...list.children].forEach((item) => {
      const text = item.textContent.toLowerCase();
      item.hidden = !words.every((word) => text.includes(word));
    });
    list.previousElementSibling.hidden = [...list.children].every((item) => item.hidden);
  }
}

// The lists have the latest sessions only: the server looks for others.

const moreSessions = rail?.querySelector("[data-more-sessions]");
let railTimer = null;
let railRequest = null;

async function searchRail(text) {
  railRequest?.abort();
  railRequest = new AbortController();
  const listed = new Set(all(":scope > ol a", rail).map((link) => link.pathname));
  try {
    const page = text ? await fetchPage(`/palette?q=${encodeURIComponent(text)}`, railRequest.signal) : null;
    const found = page ? all("#main li", page).filter((item) => !listed.has(item.querySelector("a").pathname)) : [];
    found.forEach((item) => { item.querySelector(".dim").className = "sub"; });
    moreSessions.querySelector("ol").replaceChildren(...found.map((item) => document.importNode(item, true)));
    moreSessions.hidden = !found.length;
  } catch (error) {
    if (error.name !== "AbortError") moreSessions.hidden = true;
  }
}

document.addEventListener("input", ({ target }) => {
  if (!rail || !target.matches("[data-filter-list]")) return;
  filterRail();
  clearTimeout(railTimer);
  railTimer = setTimeout(() => searchRail(target.value.trim()), 150);
});
document.addEventListener("refreshed", filterRail);
document.getElementById("rail")?.addEventListener("toggle", showCurrent);

// A link to a line that is on the page does not reload it, but the address becomes the permanent one.

document.addEventListener("click", (event) => {
  const link = event.target.closest("a.line, .call dd a");
  if (!link?.hash || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  if (!document.getElementById(link.hash.slice(1))) return;
  event.preventDefault();
  if (location.hash !== link.hash) location.hash = link.hash;
  history.replaceState(null, "", link.href);
});

function toFind() {
  const field = document.querySelector("[data-find-within]");
  field?.focus();
  field?.select();
}

// Marks the found words in the conversation, where the browser can do so without changing it.

function markFound() {
  const words = document.querySelector("[data-words]")?.dataset.words.split(" ").filter(Boolean) ?? [];
  if (!words.length || !globalThis.CSS?.highlights) return;
  const ranges = [];
  const walker = document.createTreeWalker(document.querySelector(".talk"), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.toLowerCase();
    if (text.length !== node.data.length) continue;
    for (const word of words) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set("find", new Highlight(...ranges));
}
if (document.querySelector(".talk")) {
  markFound();
  document.addEventListener("refreshed", markFound);
}

// Steps through what the search within found. Matches on the page are shown without loading it again.

const hitSteps = document.querySelector("[data-hit-steps]");
const hitLinks = () => all(".found ol a");
const hitAt = () => Number(hitSteps.querySelector("[data-hit-at]").textContent) - 1;

function showHit(at) {
  const links = hitLinks();
  const link = links[at];
  if (!link) return;
  if (!document.getElementById(link.hash.slice(1))) return location.assign(link.href);
  if (location.hash === link.hash) unfold();
  else location.hash = link.hash;
  history.replaceState(null, "", link.href);
  hitSteps.querySelector("[data-hit-at]").textContent = String(at + 1);
  for (const step of all("[data-hit-step]", hitSteps)) {
    const next = links[at + Number(step.dataset.hitStep)];
    if (next) step.href = next.href;
    else step.removeAttribute("href");
    step.toggleAttribute("aria-disabled", !next);
    if (!next) step.setAttribute("aria-disabled", "true");
  }
  links.forEach((one) => one.toggleAttribute("aria-current", one === link));
  link.setAttribute("aria-current", "true");
  const list = link.closest("ol");
  list.scrollTop = link.offsetTop - list.offsetTop - list.clientHeight / 3;
}

if (hitSteps) {
  document.addEventListener("click", (event) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const step = event.target.closest("[data-hit-step]");
    const at = step ? hitAt() + Number(step.dataset.hitStep) : hitLinks().indexOf(event.target.closest(".found ol a"));
    if (!step && at < 0) return;
    event.preventDefault();
    showHit(at);
  });
  document.addEventListener("keydown", (event) => {
    const { target } = event;
    if (event.key !== "Enter" || !target.matches?.("[data-find-within]") || event.isComposing) return;
    // Other words are a new search.
    if (target.value.trim() !== target.defaultValue.trim()) return;
    event.preventDefault();
    showHit(hitAt() + (event.shiftKey ? -1 : 1));
  });
  if (!location.hash) showHit(Math.max(0, hitAt()));
}

// A menu closes when one clicks elsewhere or presses Esc.

document.addEventListener("click", (event) => {
  all(".menu[open]").filter((menu) => !menu.contains(event.target)).forEach((menu) => { menu.open = false; });
});

document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && event.target.closest?.(".menu[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

// An exported file is saved with a note about the secrets that were removed from it. Without this script the link saves it.

document.addEventListener("click", async (event) => {
  const link = event.target.closest(".export-formats a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  const address = new URL(link.href);
  address.searchParams.delete("download");
  try {
    const answer = await fetch(address);
    const exported = await answer.json();
    if (!answer.ok) return notify(exported.error.message);
    const file = URL.createObjectURL(new Blob([exported.content], { type: exported.contentType }));
    Object.assign(document.createElement("a"), { href: file, download: exported.fileName }).click();
    setTimeout(() => URL.revokeObjectURL(file), 60000);
    link.closest(".menu").open = false;
    notify(`${exported.fileName} was saved. ${redactionReport(exported.redactions)}`);
  } catch {
    notify("The server does not answer. Nothing was exported.");
  }
});

function redactionReport(redactions) {
  const kinds = Object.entries(redactions);
  if (!kinds.length) return "It had no secrets to remove.";
  const many = kinds.reduce((sum, [, count]) => sum + count, 0);
  return `Removed ${many} ${many === 1 ? "secret" : "secrets"}: ${kinds.map(([kind, count]) => `${kind} ${count}`).join(", ")}.`;
}
