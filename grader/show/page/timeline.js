// The timeline of a block: its warps side by side on their clocks, with phases, barriers, waits, copies, findings.

import { font, hatch, prepare } from "./canvas.js";
import { isTelling } from "./stops.js";

const GUTTER = 62;
const TOP = 30;
const COPIES = 12;
const DULL = 0.12; // of the width of a step at which something is to be seen

const LOOKS = { load: "read", store: "write", atomic: "write", copy: "read", arithmetic: "sum", barrier: "wait" };

export class Timeline {
  constructor(canvas, film) {
    Object.assign(this, { canvas, film, cached: null });
  }

  #of(block) {
    if (this.known?.block === block) return this.known;
    const steps = this.film.steps.filter((step) => step.block === block);
    const clocks = steps.reduce((most, step) => Math.max(most, step.clock + 1), 1);
    const phases = new Map();
    for (const step of steps) {
      if (step.phase < 0) continue;
      const band = phases.get(step.phase) ?? { phase: step.phase, from: step.clock, to: step.clock + 1 };
      band.from = Math.min(band.from, step.clock);
      band.to = Math.max(band.to, step.clock + 1);
      phases.set(step.phase, band);
    }
    const meetings = this.film.meetings.filter((meeting) => meeting.block === block);
    const copies = this.film.copies.filter((copy) => copy.block === block);
    // Where no warp does anything that can be seen, as while addresses are worked out, time is drawn short.
    const weights = new Float64Array(clocks).fill(DULL);
    for (const step of steps) if (isTelling(step)) weights[step.clock] = 1;
    const ends = new Float64Array(clocks + 1);
    weights.forEach((weight, clock) => {
      ends[clock + 1] = ends[clock] + weight;
    });
    this.known = { block, steps, clocks, ends, phases: [...phases.values()], meetings, copies };
    return this.known;
  }

  row(width) {
    return Math.max(7, Math.min(20, Math.floor(110 / this.film.warps)));
  }

  x(clock, known, width) {
    const before = Math.min(Math.floor(clock), known.clocks);
    const next = Math.min(before + 1, known.clocks);
    const place = known.ends[before] + (clock - before) * (known.ends[next] - known.ends[before]);
    return GUTTER + (place / known.ends[known.clocks]) * (width - GUTTER - 6);
  }

  /** view: {n, now, block, warp, finding, colours, width}. Returns the height used. */
  draw(view) {
    const known = this.#of(view.block);
    const row = this.row();
    const height = TOP + this.film.warps * (row + 2) + (known.copies.length ? COPIES + 4 : 0) + 8;
    const context = prepare(this.canvas, view.width, height);
    if (!context) return height;
    const scale = (clock) => this.x(clock, known, view.width);
    const y = (warp) => TOP + warp * (row + 2);
    this.#phases(context, known, view, scale, height);
    this.#warps(context, known, view, scale, y, row);
    this.#barriers(context, known, view, scale, y, row);
    this.#copies(context, known, view, scale, y(this.film.warps) + 2);
    this.#findings(context, known, view, scale, y, row);
    this.#cursor(context, view, scale, y, row, height);
    return height;
  }

  #phases(context, known, { colours, width }, scale, height) {
    context.font = font(10);
    context.textBaseline = "middle";
    context.textAlign = "center";
    known.phases.forEach((band) => {
      const [from, to] = [scale(band.from), scale(band.to)];
      context.fillStyle = band.phase % 2 ? colours.page : colours.own;
      context.fillRect(from, 12, to - from, height - 12);
      context.fillStyle = colours.quiet;
      const text = to - from > 50 ? `${this.film.phaseWord} ${band.phase}` : to - from > 12 ? band.phase : "";
      context.fillText(text, (from + to) / 2, 20);
    });
    context.textAlign = "left";
    context.fillStyle = colours.quiet;
    context.font = font(11);
    for (let warp = 0; warp < this.film.warps; warp++) {
      const every = this.row() < 12 ? 4 : 1;
      if (warp % every === 0) context.fillText(`warp ${warp}`, 0, TOP + warp * (this.row() + 2) + this.row() / 2);
    }
  }

  #warps(context, known, { n, colours }, scale, y, row) {
    for (const step of known.steps) {
      const look = LOOKS[step.kind];
      context.globalAlpha = step.n <= n ? 1 : 0.28;
      context.fillStyle = look ? colours[look] : colours.quiet;
      // Reading, writing, adding and the rest also differ in height.
      const high = look === "write" ? 1 : look === "read" ? 0.75 : look === "wait" ? 1 : look === "sum" && step.sums.length ? 0.5 : 0.2;
      const [from, room] = [scale(step.clock), scale(step.clock + 1) - scale(step.clock)];
      context.fillRect(from, y(step.warp) + row * (1 - high), Math.max(room - (room > 4 ? 1 : 0), 1), row * high);
    }
    context.globalAlpha = 1;
  }

  #barriers(context, known, { colours }, scale, y, row) {
    for (const meeting of known.meetings) {
      const clocks = meeting.arrivals.map((n) => this.film.steps[n].clock);
      const end = Math.max(...clocks) + 1;
      for (const n of meeting.arrivals) {
        const step = this.film.steps[n];
        const until = meeting.released < 0 ? known.clocks : end;
        const from = scale(step.clock + 1);
        if (scale(until) - from > 1) hatch(context, from, y(step.warp), scale(until) - from, row, meeting.released < 0 ? colours.fault : colours.wait, 4);
      }
      if (meeting.released < 0) continue;
      context.strokeStyle = colours.wait;
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(scale(end) - 0.5, TOP - 3);
      context.lineTo(scale(end) - 0.5, y(this.film.warps - 1) + row + 2);
      context.stroke();
    }
  }

  #copies(context, known, { colours }, scale, y) {
    if (!known.copies.length) return;
    context.fillStyle = colours.quiet;
    context.font = font(11);
    context.textAlign = "left";
    context.fillText("copies", 0, y + COPIES / 2);
    context.globalAlpha = 0.4;
    context.fillStyle = colours.read;
    for (const copy of known.copies) {
      const to = copy.arrived < 0 ? known.clocks : this.film.steps[copy.arrived].clock;
      const from = this.film.steps[copy.start].clock;
      context.fillRect(scale(from), y, Math.max(1, scale(to) - scale(from)), COPIES - 2);
    }
    context.globalAlpha = 1;
  }

  #findings(context, known, { finding, colours, block }, scale, y, row) {
    for (const one of this.film.findings) {
      const steps = one.parties.map(({ n }) => this.film.steps[n]).filter((step) => step.block === block);
      if (!steps.length) continue;
      const points = steps.map((step) => [scale(step.clock + 0.5), y(step.warp) + row / 2]);
      if (points.length === 2 && finding === one) {
        const [[x0, y0], [x1, y1]] = points;
        hatch(context, Math.min(x0, x1), TOP - 4, Math.abs(x1 - x0), this.film.warps * (row + 2) + 4, colours.fault, 6);
        context.strokeStyle = colours.fault;
        context.lineWidth = 2;
        context.beginPath();
        context.moveTo(x0, y0);
        context.quadraticCurveTo((x0 + x1) / 2, TOP - 26, x1, y1);
        context.stroke();
      }
      for (const [x, middle] of finding === one || !finding ? points : points.slice(0, 1)) {
        const size = finding === one ? 6 : 4;
        context.fillStyle = colours.fault;
        context.strokeStyle = colours.paper;
        context.lineWidth = 1;
        context.beginPath();
        context.moveTo(x, middle - size);
        context.lineTo(x + size, middle);
        context.lineTo(x, middle + size);
        context.lineTo(x - size, middle);
        context.closePath();
        context.fill();
        context.stroke();
      }
    }
  }

  #cursor(context, { n, colours, block }, scale, y, row, height) {
    const step = this.film.steps[n];
    if (!step || step.block !== block) return;
    const x = scale(step.clock + 0.5);
    context.strokeStyle = colours.ink;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, 10);
    context.lineTo(x, height - 2);
    context.stroke();
    context.fillStyle = colours.ink;
    context.beginPath();
    context.moveTo(x - 6, 3);
    context.lineTo(x + 6, 3);
    context.lineTo(x, 12);
    context.fill();
    context.lineWidth = 2;
    const room = scale(step.clock + 1) - scale(step.clock);
    context.strokeRect(x - Math.max(4, room / 2) - 1, y(step.warp) - 1.5, Math.max(8, room) + 2, row + 3);
  }

  /** The number of the step under a point, or null. */
  at(px, py, view) {
    const known = this.#of(view.block);
    const warp = Math.min(this.film.warps - 1, Math.max(0, Math.floor((py - TOP) / (this.row() + 2))));
    let best = null;
    for (const step of known.steps) {
      if (step.warp !== warp) continue;
      const distance = Math.abs(this.x(step.clock + 0.5, known, view.width) - px);
      if (!best || distance < best.distance) best = { n: step.n, distance };
    }
    return best?.n ?? null;
  }
}
