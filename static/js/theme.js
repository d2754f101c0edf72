// Theme switch: the form works by itself; here it is sent in the background, so that the page stays where it is.

const form = document.querySelector("[data-theme-form]");

function show(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  for (const button of form.querySelectorAll("button[name=theme]")) {
    button.setAttribute("aria-pressed", String(button.value === theme));
  }
}

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  const body = new FormData(form);
  body.set("theme", event.submitter.value);
  show(event.submitter.value);
  fetch(form.action, { method: "POST", body, headers: { "X-Requested-With": "fetch" } }).catch(() => form.submit());
});
