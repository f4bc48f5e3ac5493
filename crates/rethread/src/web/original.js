
// Shows what the transcript has about a call below its link. Without this script the link opens a page.

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-load]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  const place = link.closest(".load");
  const shown = place.querySelector(".original");
  if (shown) {
    shown.hidden = !shown.hidden;
    link.setAttribute("aria-expanded", String(!shown.hidden));
    return;
  }
  if (place.getAttribute("aria-busy")) return;
  place.setAttribute("aria-busy", "true");
  try {
    const page = await fetchPage(link.href);
    const content = document.importNode(page.getElementById("original"), true);
    content.removeAttribute("id");
    place.append(content);
    link.setAttribute("aria-expanded", "true");
  } catch {
    // The page of the entry says what is wrong.
    location.assign(link.href);
  } finally {
    place.removeAttribute("aria-busy");
  }
});

// What was loaded stays when the page updates: a part with the same place in both is not touched.
function isLoaded(node) {
  return node.nodeType === Node.ELEMENT_NODE && node.matches(".load:has(.original)");
}
