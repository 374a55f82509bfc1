// One launch on the page: where it stands, what is chosen, and all panes drawn from that.

import * as address from "./address.js";
import { colours } from "./canvas.js";
import { Film } from "./film.js";
import { Fold } from "./fold.js";
import { costOf, drawLanes } from "./lanes.js";
import { Matrices } from "./matrices.js";
import { Source } from "./source.js";
import { isTelling, Track } from "./stops.js";
import { element, fill } from "./parts.js";
import { Tally } from "./tally.js";
import { Timeline } from "./timeline.js";
import { phaseName, sentence } from "./words.js";

export class Viewer {
  constructor(trace, launch) {
    this.film = new Film(trace, launch);
    this.fold = new Fold(this.film);
    this.tally = new Tally(this.film);
    this.matrices = new Matrices(element("matrices"), this.film, this.fold);
    this.timeline = new Timeline(element("timeline"), this.film);
    this.file = this.#mainFile();
    this.source = new Source(element("source"), this.film, this.file, (line) => this.toLine(line));
    this.tracks = new Map();
    this.by = "line";
    this.block = this.film.blocks[0] ?? 0;
    [this.warp, this.thread, this.finding, this.access] = [null, null, null, null];
    this.n = this.track.of("line").length ? this.track.numbers[this.track.of("line")[0].to] : 0;
  }

  /** The file that most steps come from. */
  #mainFile() {
    const counts = new Map();
    for (const step of this.film.steps) counts.set(step.file, (counts.get(step.file) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
  }

  get track() {
    const key = `${this.block}:${this.warp}`;
    if (!this.tracks.has(key)) this.tracks.set(key, new Track(this.film, this.block, this.warp));
    return this.tracks.get(key);
  }

  /** The numbers of the steps that are shown as happening now. */
  get now() {
    if (!this.finding) return this.track.now(this.by, this.n);
    return this.finding.parties.map(({ n }) => n);
  }

  // ---- moving ----

  to(n) {
    this.finding = null;
    this.access = null;
    this.n = this.track.nearest(Math.max(0, n));
    this.draw();
  }

  move(by, unit = this.by) {
    const next = this.track.next(unit, this.n, by);
    const moved = next !== this.n;
    this.to(next);
    return moved;
  }

  /** To the end of a run of the unit, counted from 1. */
  toPlace(place) {
    const run = this.track.of(this.by)[place - 1];
    if (run) this.to(this.track.numbers[run.to]);
  }

  /** To the next time that the line runs, from the beginning again after the last. */
  toLine(line) {
    const isThere = (n) => this.film.steps[n].line === line && this.film.steps[n].file === this.file;
    const numbers = this.track.numbers;
    const found = numbers.find((n) => n > this.n && isThere(n)) ?? numbers.find(isThere);
    if (found === undefined) return;
    const run = this.track.of(this.by)[this.track.runAt(this.by, found)];
    this.to(this.by === "line" ? numbers[run.to] : found);
  }

  toFinding(index) {
    const finding = this.film.findings[index];
    if (!finding) return;
    if (finding.moment < 0) {
      this.finding = finding;
      this.draw();
      return;
    }
    this.block = this.film.steps[finding.moment].block;
    [this.warp, this.access] = [null, null];
    this.n = finding.moment;
    this.finding = finding;
    this.draw();
  }

  choose({ block = this.block, warp = this.warp, thread = this.thread }) {
    const changed = block !== this.block;
    Object.assign(this, { block, warp, thread });
    if (changed) this.to(this.track.numbers[this.track.of(this.by)[0]?.to ?? 0] ?? 0);
    else if (this.finding) this.draw();
    else this.to(this.n);
  }

  // ---- a cell of a matrix ----

  /** What a cell holds, and who wrote it: for the tip at the pointer. */
  about({ array, number }) {
    const state = this.fold.at(this.n)[array.id];
    const name = this.film.name(array, number);
    const sum = state.sums.get(number);
    if (sum !== undefined) return `${name}: its sum is ${sum} so far`;
    const writer = this.film.steps[state.writers[number]];
    const isSet = writer || (array.initial && !Number.isNaN(array.initial[number]));
    if (!isSet) return `${name}: nobody has written it yet`;
    if (!writer) return `${name} = ${state.values[number]}`;
    const access = writer.accesses.find((one) => one.array === array.id && one.cells.includes(number));
    const thread = access ? this.film.thread(this.film.threadOf(writer, access.lanes[access.cells.indexOf(number)])) : null;
    const who = thread ? `, written by thread (${address.place(thread)}) at line ${writer.line}` : "";
    return `${name} = ${state.values[number]}${who}`;
  }

  /** The thread that touches a cell now, else the one of the block that will store to it. */
  threadOf({ array, number }) {
    for (const n of this.now) {
      const step = this.film.steps[n];
      for (const access of step.accesses) {
        const at = access.array === array.id ? access.cells.indexOf(number) : -1;
        if (at >= 0) return this.film.threadOf(step, access.lanes[at]);
      }
    }
    for (const step of this.film.steps) {
      if (step.block !== this.block) continue;
      for (const access of step.accesses) {
        const at = access.array === array.id && access.writes ? access.cells.indexOf(number) : -1;
        if (at >= 0) return this.film.threadOf(step, access.lanes[at]);
      }
    }
    return null;
  }

  // ---- addresses ----

  get moment() {
    return {
      step: this.n,
      by: this.by,
      block: this.film.blockPlace(this.block),
      warp: this.warp,
      thread: this.thread === null ? null : this.film.thread(this.thread),
      finding: this.finding ? this.finding.index + 1 : null,
    };
  }

  /** Goes to a moment as address.read() gives it. */
  open(moment) {
    if (moment.by) this.by = moment.by;
    if (moment.block) {
      const block = this.film.blockNumber(moment.block);
      if (this.film.blocks.includes(block)) this.block = block;
    }
    this.warp = moment.warp !== undefined && moment.warp < this.film.warps ? moment.warp : null;
    const thread = moment.thread ? this.film.threadNumber(moment.thread) : null;
    this.thread = thread !== null && thread < this.film.threads ? thread : null;
    if (moment.finding) this.toFinding(moment.finding - 1);
    else this.to(moment.step ?? this.n);
  }

  // ---- drawing ----

  draw() {
    const scheme = colours();
    const now = this.now;
    const step = this.focus(now);
    const view = {
      n: this.n, now, block: this.block, warp: this.warp, thread: this.thread, finding: this.finding, colours: scheme,
    };
    this.#words(now);
    this.#stage(view);
    this.#warp(view, step);
    this.source.show(this.n, this.finding?.line ?? (step?.file === this.file ? step.line : 0), this.finding);
    const bar = element("timeline").parentElement;
    this.barView = { ...view, width: bar.clientWidth };
    this.timeline.draw(this.barView);
    this.#bar();
    this.changed?.();
  }

  /** The step of which the warp pane tells. */
  focus(now) {
    const steps = now.map((n) => this.film.steps[n]);
    if (this.finding && this.finding.at >= 0) return this.film.steps[this.finding.at];
    return steps.filter(isTelling).pop() ?? steps[steps.length - 1] ?? this.film.steps[this.n];
  }

  #words(now) {
    const text = sentence(this.film, now, { thread: this.thread });
    if (this.finding) {
      const at = this.film.steps[this.finding.at];
      text.where = `Finding ${this.finding.index + 1}, ${this.finding.code}${at && phaseName(this.film, at) ? `, ${phaseName(this.film, at)}` : ""}`;
      text.what = this.finding.message;
    }
    element("where").textContent = (text.where[0] ?? "").toUpperCase() + text.where.slice(1);
    element("what").textContent = text.what;
  }

  #stage(view) {
    fill(element("tally"), this.tally.upTo(this.n), this.film.launch.counters); // the matrices get what is left
    this.matrices.drawInPane(view);
    this.beside?.draw(this, view.colours);
  }

  #warp(view, step) {
    if (!step) return;
    const steps = view.now.map((n) => this.film.steps[n]).filter((one) => one.accesses.length);
    const choices = steps.flatMap((one) => one.accesses.map((access) => ({ step: one, access }))).slice(-8);
    const chosen = choices.find((one) => one.access === this.access) ?? costliest(choices) ?? { step, access: null };
    const place = address.place(this.film.blockPlace(chosen.step.block));
    const active = countOf(chosen.step.mask);
    element("warp-title").textContent = `Warp ${chosen.step.warp} of block (${place}): ${active} of 32 lanes active`;
    element("accesses").replaceChildren(...(choices.length > 1 ? choices.map((one) => this.#choice(one, chosen)) : []));
    element("cost").textContent = costOf(this.film, chosen.access) || chosen.step.code.text;
    const width = element("lanes").parentElement.clientWidth;
    this.laneView = { ...view, ...chosen, width };
    drawLanes(element("lanes"), this.film, this.laneView);
  }

  #choice({ step, access }, chosen) {
    const button = document.createElement("button");
    button.type = "button";
    const array = this.film.arrays[access.array];
    button.textContent = `${access.writes || access.kind === "copy-write" ? "write" : "read"} ${array?.name ?? access.space}`;
    if (this.film.warps > 1 && this.by !== "line") button.textContent += `, warp ${step.warp}`;
    button.setAttribute("aria-pressed", String(access === chosen.access));
    button.addEventListener("click", () => {
      this.access = access;
      this.draw();
    });
    return button;
  }

  #bar() {
    const scrubber = element("scrubber");
    const all = this.track.of(this.by).length;
    const place = all ? this.track.runAt(this.by, this.n) + 1 : 0;
    scrubber.min = 1;
    scrubber.max = Math.max(1, all);
    scrubber.value = place;
    scrubber.setAttribute("aria-valuetext", `${place} of ${all}: ${element("where").textContent}`);
    element("count").textContent = `${place.toLocaleString("en")} of ${all.toLocaleString("en")}`;
  }
}

function costliest(choices) {
  const wasted = ({ access }) => access.wavefronts - access.ideal;
  return choices.reduce((best, one) => (!best || wasted(one) >= wasted(best) ? one : best), null);
}

function countOf(mask) {
  let count = 0;
  for (let lane = 0; lane < 32; lane++) count += (mask >>> lane) & 1;
  return count;
}
