// Output that follows its end while the reader is at the end, and stays put while he reads further up.

const NEAR = 40;

function atEnd(box) {
  return box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
}

let follows = true;

function settle() {
  const box = document.querySelector("[data-follows]");
  if (box && follows) box.scrollTop = box.scrollHeight;
}

document.body.addEventListener("htmx:beforeSwap", () => {
  const box = document.querySelector("[data-follows]");
  if (box) follows = atEnd(box);
});
document.body.addEventListener("htmx:afterSettle", settle);
settle();

// The buttons beside the page follow the state, but never while somebody answers a question of one of them.
document.body.addEventListener("htmx:oobBeforeSwap", (event) => {
  if (event.detail.target.querySelector("dialog[open]")) event.detail.shouldSwap = false;
});
