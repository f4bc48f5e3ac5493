// The theme that was chosen, before anything is drawn: it must not change while somebody looks.
"use strict";
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // A browser that keeps nothing follows the system.
}
document.documentElement.dataset.script = "on";
