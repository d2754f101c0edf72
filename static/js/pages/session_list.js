// Rows change where they stand: the list fetches the rows that it shows, and says how many newer ones there are. Ticks
// are counted, and kept while the rows are made anew. The facets, which cost more, count again every ten seconds.

const COUNT_EVERY = 10_000;
const ticks = () => [...document.querySelectorAll("input.tick")];
let kept = new Set();
let due = 0;

function showNumber() {
  const number = ticks().filter((tick) => tick.checked).length;
  const label = document.querySelector("[data-ticked]");
  if (label) label.textContent = number ? `Act on ${number} ticked` : "Act on several";
}

document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-ticks-all]")) for (const tick of ticks()) tick.checked = target.checked;
  if (target.matches("input.tick, [data-ticks-all]")) showNumber();
});
document.body.addEventListener("htmx:beforeSwap", () => {
  kept = new Set(ticks().filter((tick) => tick.checked).map((tick) => tick.value));
});
document.body.addEventListener("htmx:afterSwap", () => {
  for (const tick of ticks()) tick.checked ||= kept.has(tick.value);
  showNumber();
});
document.body.addEventListener("xce:event", () => {
  due ||= setTimeout(() => {
    due = 0;
    document.getElementById("session-facets")?.dispatchEvent(new CustomEvent("count"));
  }, COUNT_EVERY);
});
showNumber();
