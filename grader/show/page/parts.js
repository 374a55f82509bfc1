// Small parts of the page that several panes fill.

import { COUNTED } from "./tally.js";

export const element = (id) => document.getElementById(id);

/** A list of counts: so far, and of the whole launch. Counters that stay 0 are left out, but for conflicts. */
export function fill(list, soFar, all) {
  const telling = COUNTED.filter(([name]) => (all[name] ?? 0) > 0 || soFar[name] > 0 || name === "bank_conflicts");
  list.replaceChildren(...telling.map(([name, title]) => {
    const [item, term, value, whole] = ["div", "dt", "dd", "span"].map((tag) => document.createElement(tag));
    item.className = name === "bank_conflicts" && soFar[name] > 0 ? "bad" : "";
    item.dataset.counter = name;
    term.textContent = title;
    value.textContent = soFar[name].toLocaleString("en");
    whole.textContent = ` of ${(all[name] ?? 0).toLocaleString("en")}`;
    value.append(whole);
    item.append(term, value);
    return item;
  }));
}
