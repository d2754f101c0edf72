// Keeps a reader's place when a fragment is replaced: what was unfolded stays unfolded, focus stays on the same link
// or button. It also gives tables that fold on a phone their roles back, which `display` takes away, and makes
// those reachable that scroll.

const ROLES = [
  ["thead, tbody, tfoot", "rowgroup"],
  ["tr", "row"],
  ["td", "cell"],
  ["thead th", "columnheader"],
  ["tbody th, tfoot th", "rowheader"],
];

let place = null;

const focusable = (part) => [...part.querySelectorAll("a[href], button, input, select, textarea, summary")];

function remember({ detail }) {
  const target = detail.target;
  const unfolded = [...target.querySelectorAll("details[open] > summary")].map((summary) => summary.textContent);
  place = { unfolded, focus: focusable(target).indexOf(document.activeElement) };
}

function putBack({ target }) {
  if (!place) return;
  for (const summary of target.querySelectorAll("details > summary")) {
    if (place.unfolded.includes(summary.textContent)) summary.parentElement.open = true;
  }
  if (place.focus >= 0 && document.activeElement === document.body) {
    focusable(target)[place.focus]?.focus({ preventScroll: true });
  }
  place = null;
}

function nameRoles(part) {
  const inside = part.matches?.(".table--fold") ? [part] : [];
  for (const table of [...inside, ...part.querySelectorAll(".table--fold")]) {
    table.setAttribute("role", "table");
    for (const [selector, role] of ROLES) {
      for (const element of table.querySelectorAll(selector)) {
        if (!element.hasAttribute("role")) element.setAttribute("role", role);
      }
    }
  }
}

// A table that is wider than its place can be scrolled with the keys.
function nameScrolling(part) {
  for (const wrap of part.querySelectorAll(".table-wrap")) {
    if (wrap.scrollWidth <= wrap.clientWidth) continue;
    wrap.tabIndex = 0;
    wrap.setAttribute("role", "region");
    wrap.setAttribute("aria-label", wrap.querySelector("caption")?.textContent ?? "Table");
  }
}

nameRoles(document);
nameScrolling(document);
document.body.addEventListener("htmx:beforeSwap", remember);
document.body.addEventListener("htmx:load", (event) => {
  nameRoles(event.target);
  nameScrolling(event.target);
  putBack(event);
});
