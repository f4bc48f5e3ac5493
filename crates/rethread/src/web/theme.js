// Applies the chosen theme before the first paint, so that it does not flash.
"use strict";
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Storage is blocked: follow the system.
}
document.documentElement.dataset.script = "on";
