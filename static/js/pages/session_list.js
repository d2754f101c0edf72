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
