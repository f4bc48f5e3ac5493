
// The search page: a preview of the chosen hit, and the searches of before.

const previewPane = document.querySelector("[data-preview-pane]");
let previewed = null;
let previewTimer = null;
let previewRequest = null;

async function preview(link) {
  // The pane is hidden on narrow screens, and while it is empty.
  const hasRoom = matchMedia("(min-width: 1100px)").matches;
  if (!previewPane || !link || previewed === link.dataset.preview || !hasRoom) return;
  previewed = link.dataset.preview;
  previewRequest?.abort();
  previewRequest = new AbortController();
  all(".hit.shown").forEach((hit) => hit.classList.remove("shown"));
  link.closest(".hit").classList.add("shown");
  try {
    const page = await fetchPage(previewed, previewRequest.signal);
    previewPane.replaceChildren(...page.getElementById("main").children);
    const cited = previewPane.querySelector(".anchor[data-cited]")?.closest(".entry, .call");
    previewPane.scrollTop = 0;
    if (cited) previewPane.scrollTop = cited.getBoundingClientRect().top - previewPane.getBoundingClientRect().top - 80;
  } catch (error) {
    if (error.name !== "AbortError") previewPane.replaceChildren();
  }
}

function previewSoon(link) {
  clearTimeout(previewTimer);
  previewTimer = setTimeout(() => preview(link), 90);
}

function previewFirst() {
  const first = document.querySelector(".hit [data-preview]");
  if (first) preview(first);
  else previewPane?.replaceChildren();
}

if (previewPane) {
  for (const event of ["focusin", "mouseover"]) {
    document.addEventListener(event, ({ target }) => {
      const link = target.closest?.(".hit")?.querySelector("[data-preview]");
      if (link) previewSoon(link);
    });
  }
  previewFirst();
  document.addEventListener("found", previewFirst);
}

document.addEventListener("click", (event) => {
  if (event.target.closest(".hit, .hit-group")) rememberSearch(search?.elements.q.value);
});
search?.addEventListener("submit", () => rememberSearch(search.elements.q.value));

function showRecent() {
  const box = document.getElementById("recent");
  const kept = recentSearches();
  if (!box || !kept.length) return;
  box.hidden = false;
  box.querySelector("ul").replaceChildren(...kept.map((text) => {
    const item = document.createElement("li");
    item.append(Object.assign(document.createElement("a"), { href: `/search?q=${encodeURIComponent(text)}`, textContent: text }));
    return item;
  }));
}
showRecent();
document.addEventListener("found", showRecent);

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-clear-recent]")) return;
  try {
    localStorage.removeItem("searches");
  } catch {
    // Storage is blocked: there was nothing to remove.
  }
  document.getElementById("recent").hidden = true;
});
