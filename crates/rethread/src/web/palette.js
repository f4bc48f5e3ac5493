
// The palette: Ctrl-K or ⌘K on every page jumps to a page, a session, or a search.

const palette = document.getElementById("palette");
const paletteField = palette?.querySelector("input");
const paletteList = palette?.querySelector("ul");
const MAX_RECENT = 10;
let paletteRequest = null;
let paletteTimer = null;

// Searches that led somewhere, newest first. They stay in this browser.

function recentSearches() {
  try {
    const kept = JSON.parse(localStorage.getItem("searches") ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string").slice(0, MAX_RECENT) : [];
  } catch {
    return [];
  }
}

function rememberSearch(text) {
  const words = text?.trim();
  if (!words) return;
  try {
    const others = recentSearches().filter((one) => one !== words);
    localStorage.setItem("searches", JSON.stringify([words, ...others].slice(0, MAX_RECENT)));
  } catch {
    // Storage is blocked: nothing is remembered.
  }
}

function paletteOption(label, hint, href, text) {
  const option = document.createElement("li");
  option.setAttribute("role", "option");
  option.id = `palette-${paletteList.children.length}`;
  option.dataset.href = href;
  const name = Object.assign(document.createElement("span"), { className: "name", textContent: label });
  const note = Object.assign(document.createElement("span"), { className: "dim", textContent: hint });
  option.append(name, note);
  if (text) option.dataset.search = text;
  paletteList.append(option);
}

function chooseOption(at) {
  const options = [...paletteList.children];
  options.forEach((option, index) => option.setAttribute("aria-selected", String(index === at)));
  const chosen = options[at];
  paletteField.setAttribute("aria-activedescendant", chosen?.id ?? "");
  chosen?.scrollIntoView({ block: "nearest" });
}

// Pages and searches are known here and listed at once, so that Enter follows what was typed; sessions follow.
function fillPalette(text, sessions) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (label) => words.every((word) => label.toLowerCase().includes(word));
  const toSearch = (query) => `/search?q=${encodeURIComponent(query)}`;
  paletteList.replaceChildren();
  if (text) paletteOption(`Search for “${text}”`, "search", toSearch(text), text);
  for (const link of sessions) {
    paletteOption(link.querySelector(".name").textContent, link.querySelector(".dim").textContent, link.getAttribute("href"));
  }
  all(".top nav a").filter((link) => fits(link.textContent)).forEach((link) => paletteOption(link.textContent, "page", link.getAttribute("href")));
  recentSearches().filter((one) => one !== text && fits(one)).slice(0, text ? 3 : MAX_RECENT)
    .forEach((one) => paletteOption(one, "recent search", toSearch(one), one));
  chooseOption(0);
}

async function askPalette() {
  const text = paletteField.value.trim();
  paletteRequest?.abort();
  paletteRequest = new AbortController();
  try {
    const page = await fetchPage(`/palette?q=${encodeURIComponent(text)}`, paletteRequest.signal);
    const chosen = paletteList.querySelector("[aria-selected=true]")?.dataset.href;
    const hasMoved = paletteList.querySelector("[aria-selected=true]") !== paletteList.firstElementChild;
    fillPalette(text, all("#main a", page));
    const kept = [...paletteList.children].findIndex((option) => option.dataset.href === chosen);
    if (hasMoved && kept > 0) chooseOption(kept);
  } catch (error) {
    if (error.name !== "AbortError") fillPalette(text, []);
  }
}

function openPalette() {
  if (!palette || palette.open) return;
  all("dialog[open]").forEach((dialog) => dialog.close());
  paletteField.value = "";
  fillPalette("", []);
  palette.showModal();
  paletteField.focus();
  askPalette();
}

function follow(option) {
  if (!option) return;
  rememberSearch(option.dataset.search);
  location.assign(option.dataset.href);
}

if (palette) {
  const button = document.getElementById("open-palette");
  button.hidden = false;
  button.addEventListener("click", openPalette);
  paletteField.addEventListener("input", () => {
    clearTimeout(paletteTimer);
    paletteRequest?.abort();
    fillPalette(paletteField.value.trim(), []);
    paletteTimer = setTimeout(askPalette, 100);
  });
  palette.addEventListener("keydown", (event) => {
    const options = [...paletteList.children];
    const at = options.findIndex((option) => option.getAttribute("aria-selected") === "true");
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps && options.length) {
      event.preventDefault();
      chooseOption((at + steps[event.key] + options.length) % options.length);
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      follow(options[at]);
    }
  });
  paletteList.addEventListener("click", (event) => follow(event.target.closest("[role=option]")));
  palette.addEventListener("click", (event) => event.target === palette && palette.close());
  // Before any other handler, because it also works in fields.
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    if (palette.open) palette.close();
    else openPalette();
  }, { capture: true });
}
