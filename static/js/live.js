// The only socket client. A frame is a batch of events that says which event came before it (`prev`); whoever
// misses one asks again from the number held, so that nothing is lost and nothing is told twice. The socket
// carries no page content: fragments listen to DOM events and fetch themselves through ordinary pages.
//
// Told on <body>:  xce:event            each event, detail = the event and its topic
//                  xce:<topic>          something of a topic changed (`session:7` -> xce:session-7)
//                  xce:session-<id>, xce:group-<slug>   something about it changed, whatever topic said so
//                  xce:live             the state of the connection, detail = {state}

const root = document.body;
const button = document.querySelector("[data-live-button]");
const word = document.querySelector("[data-live-word]");
const status = document.querySelector("[data-live-status]");

const HEARTBEAT_LOST = 50_000; // the server pings every 20 s
const STALE_AFTER = 15_000;
const POLL_EVERY = 10_000;
const REST_AFTER = 60_000; // a hidden tab gives its socket back
const RETRY_CAP = 30_000;
const BLOCKED_AFTER = 3; // attempts in vain before polling begins
const KEPT_WHILE_PAUSED = 200;
const KEPT_NUMBERS = 500;

const held = new Map(); // topic -> last event number known, null = none yet
const asked = new Map(); // topic -> when the rest was last asked for
const gaps = new Map(); // topic -> highest number seen beyond a gap, while a question is due
const rings = new Map(); // DOM event -> {timer, again}
const rung = new Map(); // number of an event -> names that rang for it, the newest ones
const kept = { events: [], names: new Set() }; // what came in while paused

let socket = null;
let attempts = 0;
let isPaused = false;
let isSignedOut = false;
let isResting = false;
let lastContact = Date.now(); // when the page last had news
let lastSign = Date.now(); // when the socket last showed that it lives
let retryTimer = 0;
let restTimer = 0;

const clock = (time) => new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" }).format(time);
const isOpen = () => socket?.readyState === WebSocket.OPEN;

// ---- Topics ------------------------------------------------------------------------------------------

function findTopics() {
  const start = root.dataset.liveNumber ? Number(root.dataset.liveNumber) : null;
  for (const element of document.querySelectorAll("[data-topic]")) {
    const { topic } = element.dataset;
    if (held.has(topic)) continue;
    held.set(topic, start);
    if (isOpen()) subscribe(topic);
  }
}

function subscribe(topic) {
  asked.set(topic, Date.now());
  socket.send(JSON.stringify({ type: "subscribe", topic, after: held.get(topic) }));
}

// At most one question a second per topic, and one is due as long as the gap is there.
function askForTheRest(topic, last) {
  const isDue = gaps.has(topic);
  gaps.set(topic, Math.max(last, gaps.get(topic) ?? 0));
  if (isDue) return;
  setTimeout(() => {
    const wanted = gaps.get(topic);
    gaps.delete(topic);
    if (isOpen() && held.get(topic) < wanted) subscribe(topic);
  }, Math.max(0, 1_000 - (Date.now() - (asked.get(topic) ?? 0))));
}

// ---- Frames ------------------------------------------------------------------------------------------

function receive(frame) {
  lastContact = lastSign = Date.now();
  attempts = 0;
  if (frame.type === "ping") socket.send('{"type":"pong"}');
  else if (frame.type === "events") take(frame);
  else if (frame.type === "resync") resync(frame);
  else if (frame.type === "error" && frame.topic) held.delete(frame.topic);
  show();
}

function take({ topic, prev, last, events }) {
  const have = held.get(topic);
  if (have === undefined || (have !== null && last <= have)) return;
  if (have !== null && prev > have) return askForTheRest(topic, last);
  for (const event of events) if (have === null || event.number > have) tell({ ...event, topic });
  held.set(topic, last);
}

function resync({ topic, last }) {
  held.set(topic, last ?? null);
  ring(nameOf(topic));
}

// ---- Telling the page --------------------------------------------------------------------------------

const nameOf = (topic) => `xce:${topic.replaceAll(":", "-")}`;

function namesOf(event) {
  const names = new Set([nameOf(event.topic)]);
  if (event.session) names.add(`xce:session-${event.session}`);
  if (event.group) names.add(`xce:group-${event.group}`);
  return names;
}

function tell(event) {
  if (isPaused) return keep(event);
  root.dispatchEvent(new CustomEvent("xce:event", { detail: event }));
  const before = rungFor(event.number);
  for (const name of namesOf(event)) {
    if (!before.has(name)) ring(name);
    before.add(name);
  }
}

// A page with several topics is told an event once for each; what it rang for stays silent the second time.
function rungFor(number) {
  if (!rung.has(number)) rung.set(number, new Set());
  if (rung.size > KEPT_NUMBERS) rung.delete(rung.keys().next().value);
  return rung.get(number);
}

function keep(event) {
  kept.events.push(event);
  if (kept.events.length > KEPT_WHILE_PAUSED) kept.events.shift();
  for (const name of namesOf(event)) kept.names.add(name);
}

// At once, then at most one per interval, and the last change is never swallowed.
function ring(name) {
  if (isPaused) return void kept.names.add(name);
  const running = rings.get(name);
  if (running) return void (running.again = true);
  root.dispatchEvent(new CustomEvent(name));
  const entry = { again: false };
  rings.set(name, entry);
  setTimeout(() => {
    rings.delete(name);
    if (entry.again) ring(name);
  }, name === "xce:cluster" ? 2_000 : 500);
}

// ---- Connection --------------------------------------------------------------------------------------

function connect() {
  clearTimeout(retryTimer);
  if (isSignedOut || (socket && socket.readyState <= WebSocket.OPEN)) return;
  isResting = false;
  const url = new URL(root.dataset.live, location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  socket = new WebSocket(url);
  socket.addEventListener("open", opened);
  socket.addEventListener("message", ({ data }) => receive(JSON.parse(data)));
  socket.addEventListener("close", closed);
}

function opened() {
  lastSign = Date.now();
  for (const topic of held.keys()) subscribe(topic);
  show();
}

function closed({ code }) {
  isSignedOut = code === 4401 || code === 4403;
  if (!isSignedOut && !isResting) retryTimer = setTimeout(connect, delay(code));
  show();
}

// Full jitter: all clients of a restarted server must not come back in one moment.
function delay(code) {
  attempts += 1;
  const cap = code === 1012 ? 10_000 : Math.min(RETRY_CAP, 500 * 2 ** attempts);
  return Math.random() * cap;
}

function poll() {
  if (isOpen() || isPaused || isSignedOut || isResting || document.hidden || attempts < BLOCKED_AFTER) return;
  for (const topic of held.keys()) ring(nameOf(topic));
}

function watch() {
  if (isOpen() && Date.now() - lastSign > HEARTBEAT_LOST) socket.close();
  show();
}

function visibilityChanged() {
  clearTimeout(restTimer);
  if (document.hidden) return void (restTimer = setTimeout(rest, REST_AFTER));
  if (isOpen()) return;
  attempts = 0;
  connect();
}

function rest() {
  isResting = true;
  clearTimeout(retryTimer);
  socket?.close();
}

// ---- Showing the state -------------------------------------------------------------------------------

function waiting() {
  if (kept.names.size === 0) return "";
  return kept.events.length === 1 ? ", 1 change" : `, ${kept.events.length || "some"} changes`;
}

function stateNow() {
  if (isSignedOut) return ["stale", "Signed out"];
  if (isPaused) return ["paused", `Paused${waiting()}`];
  if (isOpen()) return ["live", "Live"];
  if (Date.now() - lastContact > STALE_AFTER) return ["stale", `Stale since ${clock(lastContact)}`];
  return attempts >= BLOCKED_AFTER ? ["polling", "Every 10 s"] : ["reconnecting", "Reconnecting"];
}

function show() {
  const [state, text] = stateNow();
  if (word.textContent === text) return;
  word.textContent = text;
  button.title = `${text}. Press to ${isPaused ? "resume" : "pause"} live updates.`;
  button.setAttribute("aria-pressed", String(isPaused));
  if (button.dataset.state === state) return;
  if (state !== "reconnecting" && button.dataset.state !== "reconnecting") status.textContent = text;
  button.dataset.state = state;
  root.dispatchEvent(new CustomEvent("xce:live", { detail: { state } }));
}

function togglePause() {
  isPaused = !isPaused;
  if (!isPaused) {
    const { events, names } = { events: kept.events.splice(0), names: [...kept.names] };
    kept.names.clear();
    for (const event of events) root.dispatchEvent(new CustomEvent("xce:event", { detail: event }));
    for (const name of names) ring(name);
  }
  show();
}

if (root.dataset.live && button) {
  findTopics();
  connect();
  setInterval(poll, POLL_EVERY);
  setInterval(watch, 1_000);
  button.addEventListener("click", togglePause);
  root.addEventListener("xce:toggle-pause", togglePause);
  root.addEventListener("htmx:load", findTopics);
  root.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (detail.successful) lastContact = Date.now();
  });
  document.addEventListener("visibilitychange", visibilityChanged);
  addEventListener("pageshow", ({ persisted }) => persisted && connect());
}
