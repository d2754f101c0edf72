// The policy form: marks what differs from the version in force, and counts the changes. The preview fetches itself.

const form = document.querySelector("[data-policy-form]");
const counter = document.querySelector("[data-changes]");

const valueOf = (input) => (input.type === "checkbox" ? String(input.checked) : input.value);
const initialOf = (input) => (input.type === "checkbox" ? String(input.defaultChecked) : input.dataset.inForce);

function mark() {
  let changes = 0;
  for (const row of form.querySelectorAll("[data-rule]")) {
    const input = row.querySelector("input, select");
    const initial = initialOf(input);
    const isChanged = initial !== undefined && valueOf(input) !== initial;
    row.classList.toggle("changed", isChanged);
    changes += Number(isChanged);
  }
  counter.textContent = changes === 0 ? "No rule changed" : changes === 1 ? "1 rule changed" : `${changes} rules changed`;
}

if (form && counter) {
  form.addEventListener("input", mark);
  form.addEventListener("reset", () => setTimeout(mark));
  mark();
}

// A time is typed in the reader's zone; what is sent beside it is the same moment in UTC.
const timing = document.querySelector("[data-when]");

function zoned() {
  const [at, utc] = [timing.querySelector("[name=at]"), timing.querySelector("[name=at_utc]")];
  const moment = new Date(at.value);
  utc.value = Number.isNaN(moment.getTime()) ? "" : moment.toISOString();
}

if (timing) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  timing.querySelector("[data-zone]").textContent = `(${zone})`;
  timing.addEventListener("input", zoned);
  zoned();
}
