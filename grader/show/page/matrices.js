// The matrices and shared tiles: what they hold, what is read and written now, by whom, and the sums that grow.

import { box, font, hatch, prepare, short } from "./canvas.js";
import { place as written } from "./address.js";
import { place, windowOf } from "./places.js";

const NUMBERS = 17; // CSS pixels of a cell in which its value can be read

export class Matrices {
  constructor(canvas, film, fold) {
    Object.assign(this, { canvas, film, fold, windows: new Map(), places: [] });
  }

  /** Draws in the room that the canvas' pane has; a pane that scrolls is reached by keys as well. */
  drawInPane(view) {
    const pane = this.canvas.parentElement;
    const hasOwnHeight = getComputedStyle(pane).minHeight === "0px";
    const height = hasOwnHeight ? pane.clientHeight : Math.min(pane.clientWidth * 1.05, 460);
    this.draw({ ...view, width: pane.clientWidth, height });
    if (pane.scrollHeight > pane.clientHeight) pane.tabIndex = 0;
    else pane.removeAttribute("tabindex");
  }

  /** view: {n, now, block, thread, finding, colours, width, height}. */
  draw(view) {
    const arrays = this.film.arrays.filter((array) =>
      (array.space === "global" ? array.isTouched || array.isNamed : array.block === view.block));
    const touched = this.touched(view);
    for (const array of arrays) {
      const cells = [...(touched.get(array.id)?.keys() ?? [])];
      this.windows.set(array, windowOf(array, cells, this.windows.get(array)));
    }
    const layout = place(arrays, this.windows, view.width, view.height);
    const context = prepare(this.canvas, view.width, Math.max(layout.height, 60));
    this.places = layout.places;
    if (!context) return;
    const state = this.fold.at(view.n);
    for (const one of layout.places) this.#array(context, one, state[one.array.id], touched.get(one.array.id), view);
  }

  /** array -> cell -> {reads, writes, fault}: lists of threads. */
  touched(view) {
    const found = new Map();
    const entry = (array, cell) => {
      if (!found.has(array)) found.set(array, new Map());
      const cells = found.get(array);
      if (!cells.has(cell)) cells.set(cell, { reads: [], writes: [], grows: [], comes: false, fault: false });
      return cells.get(cell);
    };
    for (const number of view.now) {
      const step = this.film.steps[number];
      const party = view.finding?.parties.find(({ n }) => n === number);
      for (const access of step.accesses) {
        if (access.array < 0) continue;
        if (access.kind === "copy-write") continue; // written when it arrives
        access.cells.forEach((cell, i) => {
          if (cell < 0 || cell >= this.film.arrays[access.array].size) return;
          if (party && party.lane >= 0 && party.lane !== access.lanes[i]) return;
          entry(access.array, cell)[access.writes ? "writes" : "reads"].push(this.film.threadOf(step, access.lanes[i]));
        });
      }
      for (const copy of step.arrived) {
        for (const cell of copy.array < 0 ? [] : copy.cells) entry(copy.array, cell).writes.push(this.film.threadOf(step, copy.lane));
      }
      for (const sum of step.sums) entry(sum.array, sum.cell).grows.push(this.film.threadOf(step, sum.lane));
    }
    for (const copy of this.film.underWay(view.n, view.block)) {
      for (const cell of copy.array < 0 ? [] : copy.cells) entry(copy.array, cell).comes = true;
    }
    for (const cell of view.finding?.cells ?? []) {
      if (view.finding.array >= 0) entry(view.finding.array, cell).fault = true;
    }
    return found;
  }

  #array(context, { array, x, y, cell, window }, state, touched, view) {
    const { colours } = view;
    const text = Math.max(9, Math.min(13, cell * 0.3));
    context.textBaseline = "alphabetic";
    context.textAlign = "left";
    context.fillStyle = colours.ink;
    context.font = font(13, { bold: true });
    context.fillText(array.name, x, y - 18);
    const after = context.measureText(array.name).width + 7;
    context.fillStyle = colours.quiet;
    context.font = font(11);
    const about = array.space === "shared" ? "shared" : `${array.rows} × ${array.cols}`;
    const isAcross = array.panels.length > 0 && array.panels[1].col > 0; // the other panels' names stand there
    if (!isAcross && after + context.measureText(about).width < window.cols * cell + 30) context.fillText(about, x + after, y - 18);
    this.#ticks(context, { array, x, y, cell, window }, colours);
    const own = this.film.ownTile(array, view.block);
    const footprint = array.space === "global" ? this.film.footprint(array, view.block) : null;
    for (let r = 0; r < window.rows; r++) {
      for (let c = 0; c < window.cols; c++) {
        const [row, col] = [window.row0 + r, window.col0 + c];
        const number = array.at(row, col);
        if (number < 0) continue;
        const at = { x: x + c * cell, y: y + r * cell, cell };
        const isOwn = footprint?.has(number);
        this.#cell(context, at, { array, state, number, touch: touched?.get(number), isOwn, text }, view);
      }
    }
    const panels = array.panels.length ? array.panels : [{ row: 0, col: 0, rows: array.rows, cols: array.cols }];
    panels.forEach((panel) => {
      const edge = { row0: panel.row, row1: panel.row + panel.rows, col0: panel.col, col1: panel.col + panel.cols };
      this.#frame(context, edge, { x, y, cell, window }, colours.quiet, 1);
    });
    if (own) this.#frame(context, own, { x, y, cell, window }, colours.ink, 2);
  }

  #ticks(context, { array, x, y, cell, window }, colours) {
    context.fillStyle = colours.quiet;
    context.font = font(10);
    const every = cell >= 14 ? 1 : Math.ceil(18 / cell);
    context.textAlign = "center";
    const shows = (place) => place !== "" && place % every === 0;
    for (let c = 0; c < window.cols; c++) if (shows(array.colName(window.col0 + c))) context.fillText(array.colName(window.col0 + c), x + (c + 0.5) * cell, y - 4);
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (let r = 0; r < window.rows; r++) if (shows(array.rowName(window.row0 + r))) context.fillText(array.rowName(window.row0 + r), x - 5, y + (r + 0.5) * cell);
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    array.panels.forEach(({ row, col, cols }, panel) => {
      const [r, c] = [row - window.row0, col - window.col0];
      if (r < 0 || r >= window.rows || c < 0 || c >= window.cols) return; // begins outside of what is seen
      const right = x + (col + cols - window.col0) * cell;
      if (col > 0) context.fillText(`[${panel}]`, x + (col - window.col0) * cell, y - 18);
      else if (row > 0) context.fillText(`[${panel}]`, right + 4, y + (row - window.row0) * cell + 9);
    });
  }

  #frame(context, own, { x, y, cell, window }, colour, width) {
    const [r0, r1] = [Math.max(own.row0 - window.row0, 0), Math.min(own.row1 - window.row0, window.rows)];
    const [c0, c1] = [Math.max(own.col0 - window.col0, 0), Math.min(own.col1 - window.col0, window.cols)];
    if (r1 <= r0 || c1 <= c0) return;
    context.strokeStyle = colour;
    context.lineWidth = width;
    const inset = width < 2 ? 0.5 : 0;
    context.strokeRect(x + c0 * cell + inset, y + r0 * cell + inset, (c1 - c0) * cell - 2 * inset, (r1 - r0) * cell - 2 * inset);
  }

  #cell(context, { x, y, cell }, { array, state, number, touch, isOwn, text }, view) {
    const { colours } = view;
    const inset = cell > 12 ? 1.5 : 0.5;
    const side = cell - 2 * inset;
    const mine = (threads) => view.thread !== null && threads.includes(view.thread);
    let ink = colours.ink;
    context.fillStyle = isOwn ? colours.own : colours.paper;
    context.fillRect(x, y, cell, cell);
    if (cell >= 8) {
      context.strokeStyle = colours.line;
      context.lineWidth = 1;
      context.strokeRect(x + 0.5, y + 0.5, cell - 1, cell - 1);
    }
    const value = state.values[number];
    const sum = state.sums.get(number);
    const isEmpty = state.writers[number] < 0 && !(array.initial && !Number.isNaN(array.initial[number]));
    if (isEmpty && sum === undefined && array.space === "shared" && cell >= 8) {
      hatch(context, x + 1, y + 1, cell - 2, cell - 2, colours.line, 6);
    }
    if (touch?.reads.length || touch?.writes.length) {
      context.fillStyle = touch.writes.length ? colours.writeSoft : colours.readSoft;
      box(context, x + inset, y + inset, side, side, 4);
      context.fill();
      context.lineWidth = cell > 20 ? 2.5 : 1.5;
      context.strokeStyle = touch.writes.length ? colours.write : colours.read;
      context.stroke();
      // Written cells have a filled corner, so that reading and writing differ in more than colour.
      if (touch.writes.length && cell > 12) {
        context.fillStyle = colours.write;
        const corner = Math.min(cell * 0.26, 11);
        context.beginPath();
        context.moveTo(x + cell - inset - corner, y + inset);
        context.lineTo(x + cell - inset, y + inset);
        context.lineTo(x + cell - inset, y + inset + corner);
        context.fill();
      }
    }
    if (touch?.comes) {
      hatch(context, x + 1, y + 1, cell - 2, cell - 2, colours.read, cell > 12 ? 5 : 3);
      context.strokeStyle = colours.read;
      context.lineWidth = 1;
      context.setLineDash([2, 2]);
      context.strokeRect(x + 1, y + 1, cell - 2, cell - 2);
      context.setLineDash([]);
    }
    if (touch?.grows.length) {
      context.strokeStyle = colours.sum;
      context.lineWidth = 2;
      context.setLineDash([4, 3]);
      box(context, x + inset, y + inset, side, side, 4);
      context.stroke();
      context.setLineDash([]);
    }
    if (touch?.fault) {
      context.fillStyle = colours.faultSoft;
      context.fillRect(x, y, cell, cell);
      hatch(context, x, y, cell, cell, colours.fault, 5);
      if (cell >= 20) {
        context.fillStyle = colours.faultSoft;
        context.fillRect(x + 6, y + 6, cell - 12, cell - 12);
      }
      context.strokeStyle = colours.fault;
      context.lineWidth = 3;
      context.strokeRect(x + inset, y + inset, side, side);
    }
    if (touch && mine([...touch.reads, ...touch.writes, ...touch.grows]) && cell > 10) {
      context.strokeStyle = colours.ink;
      context.lineWidth = 2;
      context.strokeRect(x + inset + 3, y + inset + 3, side - 6, side - 6);
    }
    if (cell < NUMBERS) {
      const isNew = state.writers[number] >= 0 || sum !== undefined;
      if (isNew && !(touch && (touch.reads.length || touch.writes.length || touch.grows.length || touch.comes))) {
        context.fillStyle = sum !== undefined ? colours.sum : colours.faint;
        context.globalAlpha = 0.55;
        context.fillRect(x + 1, y + 1, Math.max(1, cell - 2), Math.max(1, cell - 2));
        context.globalAlpha = 1;
      }
      return;
    }
    const who = touch && cell >= 40 ? this.#who(touch) : "";
    const middle = y + cell * (who ? 0.42 : 0.52);
    context.textAlign = "center";
    context.textBaseline = "middle";
    const room = Math.floor(cell / (text * 0.6));
    if (sum !== undefined) {
      context.font = font(text, { italic: true, bold: true });
      context.fillStyle = touch?.fault ? ink : colours.sum;
      context.fillText(short(sum, room), x + cell / 2, middle);
    } else if (!isEmpty) {
      context.font = font(text, { mono: false, bold: Boolean(touch) });
      context.fillStyle = ink;
      context.fillText(short(value, room), x + cell / 2, middle);
    }
    if (who) {
      context.font = font(Math.min(10, cell * 0.2));
      context.fillStyle = colours.quiet;
      context.fillText(who, x + cell / 2, y + cell * 0.78, cell - 4);
    }
  }

  #who(touch) {
    const threads = [...new Set([...touch.writes, ...touch.reads, ...touch.grows])];
    if (touch.fault && threads.length === 2) return threads.map((one) => `(${written(this.film.thread(one))})`).join(" ");
    return threads.length === 1 ? `(${written(this.film.thread(threads[0]))})` : `${threads.length} threads`;
  }

  /** What lies under a point of the canvas: {array, row, col, number}, or null. */
  at(px, py) {
    for (const { array, x, y, cell, window } of this.places) {
      const [c, r] = [Math.floor((px - x) / cell), Math.floor((py - y) / cell)];
      if (c < 0 || r < 0 || c >= window.cols || r >= window.rows) continue;
      const [row, col] = [window.row0 + r, window.col0 + c];
      const number = array.at(row, col);
      return number < 0 ? null : { array, row, col, number };
    }
    return null;
  }
}
