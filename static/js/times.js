// Times in the reader's zone. The server writes UTC; `data-show` says how, the title always has the whole truth.

const format = (options) => new Intl.DateTimeFormat("en-GB", options);
const CLOCK = format({ hour: "2-digit", minute: "2-digit" });
const TIME = format({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = format({ day: "numeric", month: "short" });
const WHOLE = format({ dateStyle: "full", timeStyle: "long" });

const isToday = (at) => at.toDateString() === new Date().toDateString();
const dayAndClock = (at) => `${DAY.format(at)} ${CLOCK.format(at)}`;

const SHOWN = {
  clock: (at) => CLOCK.format(at),
  time: (at) => TIME.format(at),
  precise: (at) => `${TIME.format(at)}.${String(at.getMilliseconds()).padStart(3, "0")}`,
  day: (at) => DAY.format(at),
  date: dayAndClock,
  moment: (at) => (isToday(at) ? TIME.format(at) : dayAndClock(at)),
  ago: (at) => distance(Math.trunc((at - Date.now()) / 1000)),
};

function distance(seconds) {
  if (Math.abs(seconds) < 5) return "just now";
  const text = span(Math.abs(seconds));
  return seconds > 0 ? `in ${text}` : `${text} ago`;
}

function span(seconds) {
  const minutes = Math.trunc(seconds / 60);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 600 && seconds % 60) return `${minutes} min ${seconds % 60} s`;
  if (seconds < 3_600) return `${minutes} min`;
  if (seconds < 86_400) return minutes % 60 ? `${Math.trunc(minutes / 60)} h ${minutes % 60} min` : `${minutes / 60} h`;
  return seconds < 172_800 ? "1 day" : `${Math.trunc(seconds / 86_400)} days`;
}

function write(element) {
  const at = new Date(element.dateTime);
  const text = SHOWN[element.dataset.show]?.(at);
  if (text && element.textContent !== text) element.textContent = text;
}

function writeAll(part) {
  for (const element of part.querySelectorAll("time[data-show]")) {
    element.title = WHOLE.format(new Date(element.dateTime));
    write(element);
  }
  for (const element of part.querySelectorAll("text[data-at]")) {
    element.textContent = CLOCK.format(new Date(element.dataset.at));
  }
}

writeAll(document);
document.body.addEventListener("htmx:load", ({ target }) => writeAll(target));
document.body.addEventListener("xce:content", ({ target }) => writeAll(target));
setInterval(() => {
  for (const element of document.querySelectorAll('time[data-show="ago"]')) write(element);
}, 1_000);
