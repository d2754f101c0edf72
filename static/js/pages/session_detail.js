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
