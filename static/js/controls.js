// Small controls that many pages share: dialogs, copy buttons, menus that close, the search shortcut, and filters
// that apply themselves. Everything is driven by data attributes; without scripts forms still have their buttons.

function openDialog(button) {
  document.getElementById(button.dataset.opens)?.showModal();
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copies);
  await navigator.clipboard.writeText(source ? source.textContent.trim() : location.href);
  const word = button.querySelector("[data-word]") ?? button.appendChild(document.createElement("span"));
  const before = word.textContent;
  word.textContent = "Copied";
  setTimeout(() => (word.textContent = before), 1_500);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-opens], [data-copies], [data-closes], [data-pauses]");
  if (button?.dataset.opens) openDialog(button);
  else if (button?.dataset.copies) copy(button);
  else if (button?.hasAttribute("data-closes")) button.closest("dialog").close();
  else if (button?.hasAttribute("data-pauses")) document.body.dispatchEvent(new CustomEvent("xce:toggle-pause"));
  if (event.target.matches("dialog")) event.target.close(); // the backdrop
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

const isTyping = (target) => target.closest("input, textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  const menu = document.querySelector("details.menu[open]");
  if (event.key === "Escape" && menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const field = document.querySelector('[data-shortcut="/"]');
  if (!field) return;
  event.preventDefault();
  field.focus();
});

document.addEventListener("change", ({ target }) => {
  const form = target.closest("form[data-applies]");
  if (form) form.requestSubmit();
});
