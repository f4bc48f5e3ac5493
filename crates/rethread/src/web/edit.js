
// Pins, tags and names. The page is rendered again by the server after each change.

function notify(text) {
  document.querySelector(".notice")?.remove();
  const notice = document.createElement("p");
  notice.className = "notice";
  notice.setAttribute("role", "alert");
  notice.textContent = text;
  document.body.append(notice);
  setTimeout(() => notice.remove(), 6000);
}

async function changeSession(id, change) {
  try {
    const answer = await fetch(`/api/sessions/${encodeURIComponent(id)}`, {
      method: "PATCH",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(change),
    });
    if (answer.ok) return true;
    const { error } = await answer.json();
    notify(error.hint ? `${error.message}: ${error.hint}` : error.message);
  } catch {
    notify("The server does not answer. Nothing was changed.");
  }
  return false;
}

async function renewAfter(change) {
  if (await change) await refresh();
}

document.addEventListener("click", (event) => {
  const pin = event.target.closest("[data-pin]");
  if (pin) {
    const pinned = pin.getAttribute("aria-pressed") !== "true";
    pin.setAttribute("aria-pressed", String(pinned));
    return void changeSession(pin.dataset.pin, { pinned }).then((isDone) => {
      if (isDone) return refresh();
      pin.setAttribute("aria-pressed", String(!pinned));
    });
  }
  const removed = event.target.closest("[data-remove-tag]");
  if (removed) {
    const id = removed.closest("[data-tags]").dataset.tags;
    renewAfter(changeSession(id, { removeTags: [removed.dataset.removeTag] }));
  }
});

// The heading becomes a field. Esc leaves the name as it was; an empty name restores the agent's.

function rename(button) {
  const heading = document.getElementById("name");
  const form = document.createElement("form");
  form.className = "rename-form";
  form.dataset.editing = "";
  const field = Object.assign(document.createElement("input"), { type: "text", value: button.dataset.name, placeholder: heading.textContent, maxLength: 200 });
  const before = field.value.trim();
  field.setAttribute("aria-label", "Name of the session; empty restores the original");
  const save = Object.assign(document.createElement("button"), { type: "submit", className: "plain", textContent: "Save" });
  form.append(field, save);
  const close = () => {
    form.replaceWith(heading);
    button.hidden = false;
    button.focus();
    soon();
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const name = field.value.trim();
    // An unchanged name stays the agent's, which may give another one later.
    if (name === before) return close();
    if (!(await changeSession(button.dataset.rename, { name }))) return;
    close();
    await refresh();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });
  heading.replaceWith(form);
  button.hidden = true;
  field.focus();
  field.select();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-rename]");
  if (button) rename(button);
});

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("[data-add-tag]");
  if (!form) return;
  event.preventDefault();
  const field = form.elements.tag;
  const tag = field.value.trim();
  if (!tag || !(await changeSession(form.dataset.addTag, { addTags: [tag] }))) return;
  field.value = "";
  await refresh();
});
