// What happens now, as sentences: shown above the matrices and read out by screen readers.

import { place } from "./address.js";
import { short } from "./canvas.js";
import { isTelling } from "./stops.js";

const SHOWN = 4; // elements that are named one by one

/** {where, what}: where the film stands, and what the steps of `now` do. */
export function sentence(film, now, { thread = null } = {}) {
  const steps = now.map((n) => film.steps[n]);
  const last = steps.filter(isTelling).pop() ?? steps[steps.length - 1];
  if (!last) return { where: "Before the first step", what: "Nothing has happened yet." };
  const warps = [...new Set(steps.map((step) => step.warp))];
  const where = [phaseName(film, last)];
  if (film.warps > 1) where.push(warps.length > 1 ? `${warps.length} warps` : `warp ${last.warp}`);
  const lines = new Set(steps.filter(isTelling).map((step) => step.line));
  if (lines.size <= 1) where.push(`line ${last.line || "unknown"}`);
  const what = thread === null ? ofAll(film, steps) : ofThread(film, steps, thread);
  return { where: where.filter(Boolean).join(", "), what: what.join(" ") || quiet(film, last, thread) };
}

export function phaseName(film, step) {
  if (film.phases <= 1) return "";
  if (step.phase >= 0) return `${film.phaseWord} ${step.phase}`;
  const side = step.n < (film.firstPhase[step.block] ?? Infinity) ? "before" : "after";
  return `${side} the ${film.phaseWord}s`;
}

function quiet(film, step, thread) {
  if (thread !== null && !film.isActive(step, thread)) return `Thread (${place(film.thread(thread))}) does nothing here.`;
  return `${step.code.op}: no memory is touched.`;
}

// ---- a whole warp ----

function ofAll(film, steps) {
  const said = [];
  for (const group of grouped(film, steps)) said.push(accessSentence(film, group));
  const sums = steps.flatMap((step) => step.sums);
  if (sums.length) said.push(sumSentence(film, sums));
  for (const step of steps) {
    if (step.barrier) said.push(barrierSentence(film, step));
    if (step.arrived.length) {
      const count = step.arrived.reduce((all, copy) => all + copy.cells.length, 0);
      const names = [...new Set(step.arrived.filter(({ array }) => array >= 0).map(({ array }) => film.arrays[array].name))];
      said.push(`${film.warps > 1 ? `Warp ${step.warp} waits` : "The warp waits"} for its copies: ${count} elements${names.length ? ` of ${list(names)}` : ""} have arrived.`);
    }
  }
  return said.length > 6 ? [...said.slice(0, 5), `And ${said.length - 5} more.`] : said;
}

/** Accesses to one array in one way, over the steps. */
function grouped(film, steps) {
  const groups = new Map();
  for (const step of steps) {
    for (const access of step.accesses) {
      const key = `${access.array}:${access.kind}:${access.space}`;
      if (!groups.has(key)) groups.set(key, { ...access, cells: [], threads: new Set(), sectors: 0, wavefronts: 0, ideal: 0 });
      const group = groups.get(key);
      group.cells.push(...access.cells);
      for (const lane of access.all) group.threads.add(film.threadOf(step, lane));
      for (const name of ["sectors", "wavefronts", "ideal"]) group[name] += access[name];
    }
  }
  return [...groups.values()];
}

const DOES = {
  load: ["reads", "read"], store: ["writes", "write"], atomic: ["adds atomically to", "add atomically to"],
  "copy-read": ["begins to copy from", "begin to copy from"], "copy-write": ["begins to copy to", "begin to copy to"],
};

function accessSentence(film, group) {
  const count = group.threads.size;
  const who = count === 1 ? `Thread (${place(film.thread([...group.threads][0]))})` : `${count} threads`;
  const verb = DOES[group.kind][count === 1 ? 0 : 1];
  const array = film.arrays[group.array];
  if (!array) return `${who} ${verb} ${group.space} memory.`;
  const cells = [...new Set(group.cells)];
  const outside = cells.filter((cell) => cell < 0 || cell >= array.size);
  if (outside.length) return `${who} ${verb} outside ${array.name}, at element ${outside[0]}.`;
  const which = cells.length <= SHOWN
    ? list(cells.map((cell) => film.name(array, cell)))
    : `${cells.length} elements of ${array.name}`;
  return `${who} ${verb} ${which}${cost(group)}.`;
}

function cost(group) {
  if (group.space === "shared" && group.wavefronts > 0) {
    const more = group.wavefronts - group.ideal;
    const text = `${group.wavefronts} ${group.wavefronts === 1 ? "wavefront" : "wavefronts"}`;
    return more > 0 ? ` in ${text}, where ${group.ideal} would do` : ` in ${text}`;
  }
  if (group.space === "global" && group.sectors > 0) {
    return ` in ${group.sectors} ${group.sectors === 1 ? "sector" : "sectors"}`;
  }
  return "";
}

function sumSentence(film, sums) {
  const last = sums[sums.length - 1];
  const cells = new Set(sums.map((sum) => `${sum.array}:${sum.cell}`));
  const array = film.arrays[last.array];
  if (cells.size > 1) {
    const names = [...new Set(sums.map((sum) => sum.array))].map((id) => film.arrays[id].name);
    return `The sums of ${cells.size} elements of ${list(names)} grow.`;
  }
  return `The sum of ${film.name(array, last.cell)} grows to ${short(last.value, 8)}${product(film, last)}.`;
}

function product(film, sum) {
  const [a, b] = sum.factors;
  if (a.array < 0 || b.array < 0) return "";
  return ` by ${film.name(film.arrays[a.array], a.cell)} × ${film.name(film.arrays[b.array], b.cell)}`;
}

function barrierSentence(film, step) {
  const { meeting, waits } = step.barrier;
  const others = meeting.arrivals.filter((n) => n > step.n).map((n) => film.steps[n].warp);
  if (!waits) return `Warp ${step.warp} arrives at a barrier and goes on.`;
  if (meeting.released < 0) {
    const who = meeting.missing.length ? ` Nobody comes from warp ${list(meeting.missing.map(String))}.` : "";
    return `Warp ${step.warp} waits at a barrier that is never complete.${who}`;
  }
  if (film.warps === 1) return "The barrier: every thread of the block is here, all go on.";
  if (!others.length) return "The last warp reaches the barrier: all go on.";
  return `Warp ${step.warp} waits at the barrier for warp ${list(others.map(String))}.`;
}

// ---- one thread ----

function ofThread(film, steps, thread) {
  const said = [];
  const name = `Thread (${place(film.thread(thread))})`;
  const own = steps.filter((step) => step.warp === Math.floor(thread / 32));
  const lane = thread % 32;
  for (const step of own) {
    for (const access of step.accesses) {
      const parts = [];
      access.lanes.forEach((one, i) => {
        const array = film.arrays[access.array];
        if (one !== lane || !array) return;
        const isOutside = access.cells[i] < 0 || access.cells[i] >= array.size;
        const which = isOutside ? `element ${access.cells[i]} of ${array.name}, outside it` : film.name(array, access.cells[i]);
        const value = access.values[i];
        parts.push(value === null || Number.isNaN(value) && access.kind.startsWith("copy") ? which : `${which} = ${short(value, 9)}`);
      });
      if (parts.length) said.push(`${name} ${DOES[access.kind][0]} ${list(parts)}.`);
    }
    for (const sum of step.sums) {
      if (sum.lane === lane) said.push(sumSentence(film, [sum]));
    }
    const arrived = step.arrived.filter((copy) => copy.lane === lane && copy.array >= 0);
    if (arrived.length) {
      const cells = arrived.flatMap((copy) => copy.cells.map((cell) => film.name(film.arrays[copy.array], cell)));
      const what = cells.length <= SHOWN ? list(cells) : `${cells.length} elements from ${cells[0]} on`;
      said.push(`${name} waits for its copies: ${what} ${cells.length === 1 ? "has" : "have"} arrived.`);
    }
    if (step.barrier && (step.mask >>> lane) & 1) said.push(barrierSentence(film, step));
  }
  return said.length > 6 ? said.slice(-6) : said;
}

/** "a", "a and b", "a, b and c". */
export function list(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}
