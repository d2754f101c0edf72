// Toasts for what happens to one's own sessions. A stop is announced at once, everything else politely; one event
// makes one toast, and no more than three stand at a time.

const STOPS = new Set(["preempted"]);
const TOLD = new Set([...STOPS, "withdrawn", "stop_failed"]);
const MOST = 3;

const toasts = document.getElementById("toasts");
const announce = document.getElementById("announce");
const template = document.getElementById("toast-template");
const seen = new Set();

const plain = (text) => text.replaceAll("**", "");

function show(event) {
  const toast = template.content.firstElementChild.cloneNode(true);
  toast.querySelector("[data-toast-text]").textContent = plain(event.text);
  const link = toast.querySelector("[data-toast-link]");
  if (event.link?.startsWith("/")) link.href = event.link;
  else link.remove();
  toast.querySelector("[data-toast-close]").addEventListener("click", () => toast.remove());
  toasts.append(toast);
  while (toasts.children.length > MOST) toasts.firstElementChild.remove();
}

document.body.addEventListener("xce:event", ({ detail }) => {
  const kind = detail.type.split(".").pop().replaceAll("-", "_");
  if (detail.topic !== "user:me" || !TOLD.has(kind) || seen.has(detail.number)) return;
  seen.add(detail.number);
  show(detail);
  if (STOPS.has(kind)) announce.textContent = plain(detail.text);
});
