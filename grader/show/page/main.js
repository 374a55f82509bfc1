// The page: reads what is embedded, shows a launch of a run, follows addresses.

import * as address from "./address.js";
import { Beside } from "./beside.js";
import { column } from "./columns.js";
import { Controls } from "./controls.js";
import { element } from "./parts.js";
import { Viewer } from "./viewer.js";

/** What the page was given: {runs: [{title, note, trace}]}, gzip in base64. */
async function embedded() {
  const text = atob(element("trace").textContent.trim());
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

function touches(launch) {
  return column(launch.accesses.array).some((array) => array >= 0);
}

/** The first launch that has a finding, else the first that touched memory, else the first that did anything. */
function chosenLaunch(trace) {
  const { launches } = trace;
  return launches.find((one) => one.findings.length) ?? launches.find(touches) ?? launches.find((one) => one.events.count) ?? launches[0];
}

class Page {
  constructor(given) {
    this.runs = given.runs;
    this.controls = new Controls();
    this.viewers = new Map();
    this.choices("run", this.runs.map((run) => run.title));
    element("run").addEventListener("change", () => this.show(Number(element("run").value), null));
    element("beside").addEventListener("change", () => this.compare());
    element("launch").addEventListener("change", () => this.show(this.run, Number(element("launch").value)));
    // The event's own address: the page may have written the last moment's over it by now.
    window.addEventListener("hashchange", (event) => this.follow(new URL(event.newURL).hash));
    new ResizeObserver(() => this.redraw()).observe(document.body);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    this.show(0, null);
    this.follow(location.hash);
  }

  choices(id, titles) {
    element(id).replaceChildren(...titles.map((title, i) => new Option(title, i)));
    element(`of-${id}`).hidden = titles.length < 2;
  }

  show(run, launch) {
    this.run = run;
    const { trace, note } = this.runs[run];
    const chosen = launch ?? trace.launches.indexOf(chosenLaunch(trace));
    if (launch === null) this.choices("launch", trace.launches.map((one) => `${one.number + 1}: ${one.kernel}`));
    element("launch").value = chosen;
    const { blocks, grid } = trace.launches[chosen] ?? { blocks: [], grid: [0, 0, 0] };
    const all = grid[0] * grid[1] * grid[2];
    const some = blocks.length && blocks.length < all
      ? `Of ${all} blocks ${blocks.length === 1 ? "one is" : `${blocks.length} are`} shown; counts so far are theirs.` : "";
    const notes = [note, trace.cut, some].filter(Boolean).join(" ");
    element("note").textContent = notes;
    element("note").hidden = !notes;
    const key = `${run}:${chosen}`;
    if (!this.viewers.has(key)) this.viewers.set(key, new Viewer(trace, trace.launches[chosen]));
    this.viewer = this.viewers.get(key);
    this.viewer.source.attach();
    this.findings();
    this.others();
    this.viewer.changed = () => this.changed();
    this.controls.attach(this.viewer);
    this.viewer.draw();
  }

  /** The other runs can be put beside this one. */
  others() {
    const others = this.runs.map((run, i) => [run.title, i]).filter(([, i]) => i !== this.run);
    element("of-beside").hidden = !others.length;
    const before = element("beside").value;
    element("beside").replaceChildren(new Option("nothing", ""), ...others.map(([title, i]) => new Option(title, i)));
    element("beside").value = others.some(([, i]) => String(i) === before) ? before : "";
    this.compare(false);
  }

  compare(draws = true) {
    const value = element("beside").value;
    const other = value === "" ? null : this.runs[Number(value)];
    document.body.classList.toggle("compared", Boolean(other));
    element("beside-stage").hidden = !other;
    this.viewer.beside = other && new Beside(other.trace, chosenLaunch(other.trace), other.title);
    if (draws) this.viewer.draw();
  }

  findings() {
    const { findings } = this.viewer.film;
    element("findings").hidden = !findings.length;
    element("legend-comes").hidden = !this.viewer.film.copies.length;
    element("legend-fault").hidden = !findings.length;
    element("finding-list").replaceChildren(...findings.map((finding) => {
      const [item, link, code, line] = ["li", "a", "b", "span"].map((tag) => document.createElement(tag));
      link.href = `#finding=${finding.index + 1}`;
      code.textContent = finding.code;
      line.className = "line";
      line.textContent = finding.line ? `line ${finding.line}` : "";
      link.append(code, line, finding.message);
      link.addEventListener("click", (event) => {
        event.preventDefault();
        this.controls.pause();
        this.viewer.toFinding(finding.index);
      });
      item.append(link);
      return item;
    }));
  }

  changed() {
    this.controls.refresh();
    clearTimeout(this.later); // while it plays or a key is held, neither address nor voice could follow
    this.later = setTimeout(() => this.settled(), 120);
  }

  settled() {
    history.replaceState(null, "", address.write(this.viewer.moment));
    if (!this.controls.timer) this.speak();
  }

  speak() {
    element("aloud").textContent = `${element("where").textContent}. ${element("what").textContent}`;
  }

  follow(hash) {
    this.viewer.open(address.read(hash));
  }

  redraw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.viewer.draw());
  }
}

embedded().then((given) => {
  window.tilewise = new Page(given); // for tests, and for people who look behind the page
  document.documentElement.dataset.ready = "yes";
});
