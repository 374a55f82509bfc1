"use strict";
// Asks for the number of the newest version, and shows it where the reader was.
const element = (id) => document.getElementById(id);
let seen = 0;

function choose(name) {
  for (const one of ["show", "report"]) {
    element(one).hidden = one !== name;
    element(`to-${one}`).setAttribute("aria-pressed", String(one === name));
  }
}

/** The pages again, the moment that was looked at kept; a frame that was there reloads in place. */
function load(pages) {
  for (const name of ["show", "report"]) {
    const frame = element(name);
    const moment = seen && frame.contentWindow ? frame.contentWindow.location.hash : "";
    element(`to-${name}`).disabled = !pages.includes(name);
    if (pages.includes(name)) frame.src = `${name}?${Date.now()}${moment}`;
  }
  if (!pages.includes("show")) choose("report");
}

async function look() {
  try {
    const { version, pages } = await (await fetch("version")).json();
    if (version !== seen && version > 0) {
      load(pages);
      seen = version;
      element("state").textContent = "Up to date; save the file and this page follows.";
    }
  } catch {
    element("state").textContent = "make watch has ended; what you see is its last result.";
  }
  setTimeout(look, 700);
}

for (const name of ["show", "report"]) element(`to-${name}`).addEventListener("click", () => choose(name));
look();
