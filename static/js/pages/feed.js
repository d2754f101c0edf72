// Adds rows to a feed as events come in. The row is the one of common/_event_row.html; texts are set as text, never
// as markup. The first rows stand open and older ones are folded; together they are the newest 50. Pausing is the
// live button's business: nothing comes in meanwhile.

const MOST = 50;
const SVG = "http://www.w3.org/2000/svg";

function bold(text) {
  return text.split("**").map((piece, index) => {
    if (index % 2 === 0) return document.createTextNode(piece);
    const strong = document.createElement("b");
    strong.textContent = piece;
    return strong;
  });
}

function icon(type, icons) {
  const [name, colour] = icons[type.split(".").pop().replaceAll("-", "_")] ?? ["info", "ink-3"];
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", `icon ${colour}`);
  svg.setAttribute("aria-hidden", "true");
  svg.appendChild(document.createElementNS(SVG, "use")).setAttribute("href", `#i-${name}`);
  return svg;
}

function words(event) {
  const span = document.createElement("span");
  const link = event.link?.startsWith("/") ? span.appendChild(document.createElement("a")) : null;
  if (link) Object.assign(link, { href: event.link, className: "plain" });
  (link ?? span).append(...bold(event.text));
  return span;
}

function row(event, icons) {
  const item = document.createElement("li");
  item.dataset.number = event.number;
  const time = document.createElement("time");
  time.dateTime = event.at;
  time.dataset.show = "time";
  item.append(time, icon(event.type, icons), words(event));
  return item;
}

function trim(card) {
  const rows = card.querySelectorAll("li[data-number]");
  for (const item of [...rows].slice(MOST)) item.remove();
  const older = card.querySelector("[data-feed-older]");
  if (older && !older.querySelector("li")) older.remove();
}

function follow(feed) {
  const icons = JSON.parse(feed.dataset.icons);
  const card = feed.parentElement;
  document.body.addEventListener("xce:event", ({ detail }) => {
    if (detail.topic !== feed.dataset.topic || card.querySelector(`[data-number="${detail.number}"]`)) return;
    feed.querySelector("[data-placeholder]")?.remove();
    feed.prepend(row(detail, icons));
    trim(card);
    feed.dispatchEvent(new CustomEvent("xce:content", { bubbles: true }));
  });
}

for (const feed of document.querySelectorAll("[data-feed]")) follow(feed);
for (const button of document.querySelectorAll("[data-pauses]")) {
  document.body.addEventListener("xce:live", ({ detail }) => {
    const isPaused = detail.state === "paused";
    button.setAttribute("aria-pressed", String(isPaused));
    button.querySelector("[data-word]").textContent = isPaused ? "Resume" : "Pause";
  });
}
