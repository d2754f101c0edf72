// The form asks for a dry run when something changed, and shows the importance that a number means.

const form = document.querySelector("[data-submit-form]");
const priority = form?.querySelector("[name=priority]");
const tiers = form ? [...form.querySelectorAll("[name=importance]")] : [];

function fromTier({ target }) {
  if (target.name !== "importance" || target.value === "custom") return;
  priority.value = target.value;
  priority.dispatchEvent(new Event("change", { bubbles: true }));
}

function fromNumber() {
  const tier = tiers.find((input) => input.value === priority.value) ?? tiers.find(({ value }) => value === "custom");
  if (tier) tier.checked = true;
}

if (priority && tiers.length) {
  form.addEventListener("change", fromTier);
  priority.addEventListener("input", fromNumber);
  fromNumber();
}
