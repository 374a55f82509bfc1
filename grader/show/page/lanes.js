// The warp: its 32 lanes, the banks or sectors that they go to, who shares them, and who is idle.

import { box, font, hatch, prepare, short } from "./canvas.js";

const CHIP = 20;
const CURVES = 58;
const TOP = 16;
const MOST_ROWS = 32;

/** view: {step, access, thread, colours, width}. Returns the height used. */
export function drawLanes(canvas, film, view) {
  const gutter = view.width > 430 ? 74 : 0;
  const slot = (view.width - gutter - 2) / 32;
  const height = heightOf(film, view);
  const context = prepare(canvas, view.width, height);
  if (!context) return height;
  const at = { gutter, slot, y: TOP };
  label(context, at, view.colours, "lanes", TOP + CHIP / 2);
  for (let lane = 0; lane < 32; lane++) chip(context, film, view, at, lane);
  const { access } = view;
  if (access?.space === "shared") banks(context, film, view, at);
  else if (access?.space === "global") sectors(context, film, view, at);
  else if (view.step.sums.length) growing(context, film, view, at);
  return height;
}

function heightOf(film, { access, step }) {
  if (access?.space === "shared") {
    const rows = Math.min(Math.max(1, queue(film, access).rows), MOST_ROWS);
    return TOP + CHIP + CURVES + 18 + rows * rowHeight(rows) + 6;
  }
  if (access?.space === "global") return TOP + CHIP + CURVES + 18 + 34 + 4;
  if (step?.sums.length) return TOP + CHIP + 96;
  return TOP + CHIP + 14;
}

function rowHeight(rows) {
  return rows > 12 ? 9 : rows > 6 ? 13 : 17;
}

function label(context, { gutter }, colours, text, y) {
  if (!gutter) return;
  context.font = font(11);
  context.fillStyle = colours.quiet;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(text, 0, y);
}

function chip(context, film, { step, thread, colours }, { gutter, slot, y }, lane) {
  const x = gutter + lane * slot;
  const exists = step.warp * 32 + lane < film.threads;
  const isActive = Boolean((step.mask >>> lane) & 1);
  const isThere = Boolean((step.active >>> lane) & 1);
  const width = slot - Math.min(2, slot * 0.15);
  if (!exists) {
    context.fillStyle = colours.line;
    context.fillRect(x + slot / 2 - 1.5, y + CHIP / 2 - 1.5, 3, 3);
    return;
  }
  box(context, x, y, width, CHIP, 4);
  context.fillStyle = isActive ? colours.ink : colours.paper;
  context.fill();
  context.strokeStyle = isActive ? colours.ink : colours.quiet;
  context.lineWidth = 1;
  if (!isActive) context.setLineDash([2, 2]);
  context.stroke();
  context.setLineDash([]);
  if (!isActive && !isThere) hatch(context, x, y, width, CHIP, colours.line, 4);
  if (thread === step.warp * 32 + lane) {
    context.strokeStyle = colours.read;
    context.lineWidth = 2.5;
    box(context, x - 1.5, y - 1.5, width + 3, CHIP + 3, 5);
    context.stroke();
  }
  if (slot > 12) {
    context.font = font(slot > 15 ? 10 : 9);
    context.fillStyle = isActive ? colours.paper : colours.quiet;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(lane, x + width / 2, y + CHIP / 2 + 0.5);
  }
}

// ---- shared memory ----

/** Which lanes a bank serves in which wavefront: rows of 32 lists. */
export function queue(film, access) {
  const cells = new Map();
  let rows = 0;
  const base = film.arrays[access.array]?.address ?? 0;
  access.all.forEach((lane, i) => {
    const words = Math.max(1, access.bytes / 4);
    for (let word = 0; word < words; word++) {
      const bank = (Math.floor((base + access.offsets[i]) / 4) + word) % film.banks;
      const key = `${access.parts[i]}:${bank}`;
      if (!cells.has(key)) cells.set(key, { wavefront: access.parts[i], bank, lanes: [] });
      cells.get(key).lanes.push(lane);
    }
    rows = Math.max(rows, access.parts[i] + 1);
  });
  return { cells: [...cells.values()], rows };
}

function banks(context, film, { access, thread, step, colours }, { gutter, slot }) {
  const { cells, rows } = queue(film, access);
  const top = TOP + CHIP + CURVES;
  const tint = access.writes ? colours.write : colours.read;
  const soft = access.writes ? colours.writeSoft : colours.readSoft;
  label(context, { gutter }, colours, "banks", top + 9);
  context.font = font(9);
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillStyle = colours.quiet;
  for (let bank = 0; bank < 32; bank++) {
    if (slot > 12 || bank % 4 === 0) context.fillText(bank, gutter + (bank + 0.5) * slot, top + 9);
  }
  const shown = Math.min(rows, MOST_ROWS);
  const high = rowHeight(shown);
  const y = (row) => top + 18 + row * high;
  for (const cell of cells) {
    for (const lane of cell.lanes) {
      const mine = thread === step.warp * 32 + lane;
      curve(context, gutter + (lane + 0.5) * slot, TOP + CHIP + 1, gutter + (cell.bank + 0.5) * slot, top + 1, {
        colour: mine ? colours.ink : isLate(cell, access) ? colours.fault : tint, width: mine ? 2.2 : 1.1, alpha: mine ? 1 : 0.75,
      });
    }
  }
  for (let row = 0; row < shown; row++) {
    label(context, { gutter }, colours, high > 10 || row === 0 ? `wavefront ${row + 1}` : "", y(row) + high / 2);
    context.strokeStyle = colours.line;
    context.lineWidth = 1;
    for (let bank = 0; bank < 32; bank++) context.strokeRect(gutter + bank * slot + 0.5, y(row) + 0.5, slot - 1, high - 1);
  }
  context.textAlign = "center";
  for (const cell of cells) {
    if (cell.wavefront >= shown) continue;
    const late = isLate(cell, access);
    context.fillStyle = late ? colours.faultSoft : soft;
    context.fillRect(gutter + cell.bank * slot + 0.5, y(cell.wavefront) + 0.5, slot - 1, high - 1);
    context.strokeStyle = late ? colours.fault : tint;
    context.lineWidth = 1.5;
    context.strokeRect(gutter + cell.bank * slot + 1, y(cell.wavefront) + 1, slot - 2, high - 2);
    if (slot > 13 && high > 10) {
      context.fillStyle = colours.ink;
      context.font = font(9);
      context.fillText(cell.lanes.length > 1 ? `×${cell.lanes.length}` : cell.lanes[0], gutter + (cell.bank + 0.5) * slot, y(cell.wavefront) + high / 2 + 0.5);
    }
  }
}

/** Whether a conflict made this wavefront necessary: with so many words the first `ideal` ones are none. */
function isLate({ wavefront }, access) {
  return access.wavefronts > access.ideal && wavefront >= Math.max(1, access.ideal);
}

function curve(context, x0, y0, x1, y1, { colour, width, alpha }) {
  context.globalAlpha = alpha;
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0, y0 + (y1 - y0) * 0.55, x1, y1 - (y1 - y0) * 0.55, x1, y1);
  context.stroke();
  context.globalAlpha = 1;
}

// ---- global memory ----

/** The sectors of an access, by address: which of their eight words are asked for, and by whom. */
export function sectorsOf(film, access) {
  const base = film.arrays[access.array]?.address ?? 0;
  const found = new Map();
  access.all.forEach((lane, i) => {
    for (let at = 0; at < access.bytes; at += Math.min(4, access.bytes)) {
      const address = base + access.offsets[i] + at;
      const sector = Math.floor(address / 32);
      if (!found.has(sector)) found.set(sector, { sector, first: sector * 32 - base, words: new Map(), bytes: new Set() });
      const one = found.get(sector);
      const word = Math.floor((address % 32) / 4);
      if (!one.words.has(word)) one.words.set(word, []);
      one.words.get(word).push(lane);
      for (let byte = 0; byte < Math.min(4, access.bytes); byte++) one.bytes.add(address + byte);
    }
  });
  return [...found.values()].sort((a, b) => a.sector - b.sector);
}

function sectors(context, film, { access, thread, step, colours }, { gutter, slot }) {
  const list = sectorsOf(film, access);
  const top = TOP + CHIP + CURVES;
  const wide = slot * 32;
  const tint = access.writes ? colours.write : colours.read;
  const soft = access.writes ? colours.writeSoft : colours.readSoft;
  const array = film.arrays[access.array];
  const gap = Math.min(10, (wide / list.length) * 0.15);
  const each = Math.min(slot * 10, wide / list.length);
  const left = gutter + (wide - each * list.length) / 2;
  label(context, { gutter }, colours, "sectors", top + 17);
  list.forEach((one, i) => {
    const x = left + i * each + gap / 2;
    const word = (each - gap) / 8;
    for (let w = 0; w < 8; w++) {
      const lanes = one.words.get(w) ?? [];
      context.fillStyle = lanes.length ? soft : colours.paper;
      context.fillRect(x + w * word, top, word, 26);
      if (!lanes.length && word > 3) hatch(context, x + w * word, top, word, 26, colours.line, 4);
      for (const lane of lanes) {
        const mine = thread === step.warp * 32 + lane;
        curve(context, gutter + (lane + 0.5) * slot, TOP + CHIP + 1, x + (w + 0.5) * word, top, {
          colour: mine ? colours.ink : tint, width: mine ? 2.2 : 1.1, alpha: mine ? 1 : 0.75,
        });
      }
      context.strokeStyle = lanes.length ? tint : colours.line;
      context.lineWidth = 1;
      if (word > 3) context.strokeRect(x + w * word + 0.5, top + 0.5, word - 1, 25);
    }
    context.strokeStyle = tint;
    context.lineWidth = 1.5;
    context.strokeRect(x, top, each - gap, 26);
    if (array && each > 44) {
      const cell = Math.floor(one.first / array.bytesEach);
      context.font = font(9);
      context.fillStyle = colours.quiet;
      context.textAlign = "center";
      context.textBaseline = "middle";
      const inside = cell >= 0 && cell < array.size;
      context.fillText(inside ? `from ${film.name(array, cell)}` : "outside", x + (each - gap) / 2, top + 36, each);
    }
  });
}

// ---- arithmetic ----

function growing(context, film, { step, colours }, { gutter, slot }) {
  label(context, { gutter }, colours, "sums", TOP + CHIP + 40);
  const byLane = new Map(step.sums.map((sum) => [sum.lane, sum]));
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const [lane, sum] of byLane) {
    context.save();
    context.translate(gutter + (lane + 0.5) * slot, TOP + CHIP + 8);
    context.rotate(-Math.PI / 2);
    context.font = font(Math.min(11, slot));
    context.fillStyle = colours.sum;
    context.fillText(`${film.name(film.arrays[sum.array], sum.cell)} ${short(sum.value, 7)}`, 0, 0);
    context.restore();
  }
}

/** What an access costs, in words. */
export function costOf(film, access) {
  if (!access) return "";
  if (access.space === "shared") {
    if (access.kind === "copy-write") return "on its way: an asynchronous copy counts no wavefronts";
    if (!access.wavefronts) return "no wavefronts of its own: ptxas merges it with its neighbour";
    const plural = access.wavefronts === 1 ? "wavefront" : "wavefronts";
    const more = access.wavefronts - access.ideal;
    return `${access.wavefronts} ${plural}${more > 0 ? `, ${more} for bank conflicts` : ", no bank conflict"}`;
  }
  if (access.space === "global") {
    const list = sectorsOf(film, access);
    const used = new Set(list.flatMap((one) => [...one.bytes])).size;
    const moved = list.length * 32;
    return `${list.length} ${list.length === 1 ? "sector" : "sectors"}, ${used} of ${moved} bytes used`;
  }
  return "";
}
