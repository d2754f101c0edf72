// A list never moves under the pointer or the focus: changes wait behind a pill then, and apply themselves else.

const list = document.querySelector("[data-list]");
const pill = document.querySelector("[data-pill]");
let waiting = 0;

const isInUse = () => list.matches(":hover") || list.contains(document.activeElement);

function apply() {
  waiting = 0;
  pill.hidden = true;
  list.dispatchEvent(new CustomEvent("apply"));
}

function changed() {
  if (!isInUse()) return apply();
  const count = waiting || "Some";
  pill.querySelector("[data-word]").textContent = waiting === 1 ? "1 change, apply" : `${count} changes, apply`;
  pill.hidden = false;
}

if (list && pill) {
  document.body.addEventListener("xce:event", ({ detail }) => {
    if (detail.topic === list.dataset.topic && detail.session) waiting += 1;
  });
  document.body.addEventListener(`xce:${list.dataset.topic.replaceAll(":", "-")}`, () => queueMicrotask(changed));
  list.addEventListener("mouseleave", () => !pill.hidden && changed());
  pill.addEventListener("click", apply);
}

// ---- Ticks: counted, and kept while the rows are made anew ---------------------------------------------

const ticks = () => [...document.querySelectorAll("input.tick")];
let kept = new Set();

function count() {
  const number = ticks().filter((tick) => tick.checked).length;
  const label = document.querySelector("[data-ticked]");
  if (label) label.textContent = number ? `Act on ${number} ticked` : "Act on several";
}

document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-ticks-all]")) for (const tick of ticks()) tick.checked = target.checked;
  if (target.matches("input.tick, [data-ticks-all]")) count();
});
document.body.addEventListener("htmx:beforeSwap", () => {
  kept = new Set(ticks().filter((tick) => tick.checked).map((tick) => tick.value));
});
document.body.addEventListener("htmx:afterSwap", () => {
  for (const tick of ticks()) tick.checked ||= kept.has(tick.value);
  count();
});
count();
