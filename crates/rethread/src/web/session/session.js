
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
  if (rail) {
    all("li", rail).forEach((item) => {
      const text = item.textContent.toLowerCase();
      item.hidden = !words.every((word) => text.includes(word));
    });
  }
}

document.addEventListener("input", (event) => event.target.matches("[data-filter-list]") && filterRail());
document.addEventListener("refreshed", filterRail);

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
