// One launch of a trace as a film: steps with what they touch, arrays, findings with their moments.

import { bytesOf, column, contents, lanesOf, number, table, wordsOf } from "./columns.js";
import { gridOf } from "./grid.js";

const SPACES = ["global", "shared", "local", "constant"];
const KINDS = ["load", "store", "atomic", "copy-read", "copy-write"];

export class Film {
  constructor(trace, launch) {
    this.trace = trace;
    this.launch = launch;
    this.grid = launch.grid;
    this.block = launch.block;
    this.warps = launch.warps;
    this.blocks = launch.blocks;
    this.banks = trace.device.banks;
    this.words = column(launch.values);
    this.arrays = arraysOf(launch);
    this.steps = this.#steps();
    this.#accesses();
    this.#barriers();
    this.#copies();
    this.#sums();
    this.#atomics();
    this.findings = launch.findings.map((finding, i) => this.#finding(finding, i));
    this.tiles = new Map();
    this.#phases();
    for (const { array } of this.steps.flatMap((step) => step.accesses)) if (array >= 0) this.arrays[array].isTouched = true;
  }

  isActive(step, thread) {
    return step.warp === Math.floor(thread / 32) && Boolean((step.mask >>> (thread % 32)) & 1);
  }

  // ---- places ----

  thread(number) {
    const [x, y] = this.block;
    return [number % x, Math.floor(number / x) % y, Math.floor(number / (x * y))];
  }

  threadNumber([x, y, z]) {
    return x + this.block[0] * (y + this.block[1] * z);
  }

  get threads() {
    return this.block[0] * this.block[1] * this.block[2];
  }

  threadOf(step, lane) {
    return step.warp * 32 + lane;
  }

  blockPlace(number) {
    const [x, y] = this.grid;
    return [number % x, Math.floor(number / x) % y, Math.floor(number / (x * y))];
  }

  blockNumber([x, y, z]) {
    return x + this.grid[0] * (y + this.grid[1] * z);
  }

  /** The array's copy that a block has; global arrays have one for all. */
  arrayOf(id, block) {
    if (id < 0) return -1;
    const home = this.launch.arrays[id].space === "shared" ? this.blocks.indexOf(block) : 0;
    return this.first[id] + Math.max(home, 0);
  }

  name(array, cell) {
    if (array.shape.length === 1) return `${array.name}[${cell}]`;
    let rest = cell;
    const indices = [];
    for (const size of array.shape.slice(1).reverse()) {
      indices.unshift(rest % size);
      rest = Math.floor(rest / size);
    }
    indices.unshift(rest); // beyond the last row where the cell lies behind the array
    return array.name + indices.map((index) => `[${index}]`).join("");
  }

  /** The cells of a global array that a block touches at any time. */
  footprint(array, block) {
    this.footprints ??= new Map();
    const key = `${array.id}:${block}`;
    if (!this.footprints.has(key)) {
      const cells = new Set();
      for (const step of this.steps) {
        if (step.block !== block) continue;
        for (const access of step.accesses) if (access.array === array.id) for (const cell of access.cells) cells.add(cell);
      }
      this.footprints.set(key, cells);
    }
    return this.footprints.get(key);
  }

  /** The copies of a block that have begun by step n and have not arrived. */
  underWay(n, block) {
    return this.copies.filter((copy) => copy.block === block && copy.start <= n && (copy.arrived < 0 || copy.arrived > n));
  }

  /** The rectangle of a global array that the block writes, as the steps show it; null if it is none. */
  ownTile(array, block) {
    if (array.space !== "global") return null;
    const key = `${array.id}:${block}`;
    if (!this.tiles.has(key)) this.tiles.set(key, this.#written(array, block));
    return this.tiles.get(key);
  }

  #written(array, block) {
    let [row0, row1, col0, col1] = [Infinity, -1, Infinity, -1];
    for (const step of this.steps) {
      if (step.block !== block) continue;
      for (const access of step.accesses) {
        if (access.array !== array.id || !access.writes) continue;
        for (const cell of access.cells) {
          const [row, col] = array.placeOf(cell);
          [row0, row1] = [Math.min(row0, row), Math.max(row1, row + 1)];
          [col0, col1] = [Math.min(col0, col), Math.max(col1, col + 1)];
        }
      }
    }
    return row1 < 0 ? null : { row0, row1, col0, col1 };
  }

  // ---- reading the trace ----

  #phases() {
    const loops = phaseLoops(this.launch);
    this.phaseWord = [...loops.values()].some((loop) => loop.barriers) ? "phase" : "turn";
    this.phases = 0;
    this.firstPhase = {};
    const warps = new Map();
    for (const step of this.steps) {
      const key = `${step.block}:${step.warp}`;
      if (!warps.has(key)) warps.set(key, { loop: -1, base: 0, last: -1 });
      const warp = warps.get(key);
      const loop = loops.get(step.code.loops[0]);
      if (!loop) continue;
      // What the compiler took out of the loop's last turns is a loop of its own, and goes on counting.
      if (warp.loop !== step.code.loops[0]) Object.assign(warp, { loop: step.code.loops[0], base: warp.last + 1 });
      const within = Math.max(0, loop.starts.filter((start) => start <= step.index).length - 1);
      step.phase = warp.base + step.turns[0] * Math.max(1, loop.starts.length) + within;
      warp.last = Math.max(warp.last, step.phase);
      this.phases = Math.max(this.phases, step.phase + 1);
      this.firstPhase[step.block] ??= step.n;
    }
  }

  #steps() {
    const events = table(this.launch.events);
    this.first = [];
    let count = 0;
    for (const array of this.launch.arrays) {
      this.first.push(count);
      count += array.space === "shared" ? Math.max(this.blocks.length, 1) : 1;
    }
    this.arrays = this.launch.arrays.flatMap((given, id) => {
      const copies = given.space === "shared" ? this.blocks : [null];
      return copies.map((block, i) => ({ ...this.arrays[id], id: this.first[id] + i, block }));
    });
    const steps = [];
    for (let n = 0; n < events.count; n++) {
      const code = this.launch.instructions[events.code[n]];
      const turns = events.turns.map((depth) => depth[n]);
      steps.push({
        n,
        code,
        block: events.block[n],
        warp: events.warp[n],
        line: code.line,
        file: code.file,
        kind: code.kind,
        active: events.active[n],
        mask: events.mask[n],
        interval: events.interval[n],
        clock: events.clock[n],
        value: events.value[n],
        turns,
        turn: turns.join(","),
        index: events.code[n],
        phase: -1, // outside of all phases
        accesses: [],
        sums: [],
        arrived: [],
        barrier: null,
      });
    }
    return steps;
  }

  /** Where the values of a lane begin in the words of a step; -1 if it has none. */
  wordOf(step, lane) {
    if (step.value < 0 || !((step.mask >>> lane) & 1)) return -1;
    const rank = countBits(step.mask & ((1 << lane) - 1));
    return step.value + rank * step.code.elements * wordsOf(step.code.type);
  }

  /** In memory the bits are what its elements make of them: of shuffled values instructions do not say it. */
  valueOf(step, lane, element = 0, type = step.code.type) {
    const first = this.wordOf(step, lane);
    const isSame = bytesOf(type) === bytesOf(step.code.type);
    return first < 0 ? NaN : number(this.words, first + element * wordsOf(step.code.type), isSame ? type : step.code.type);
  }

  #accesses() {
    const rows = table(this.launch.accesses);
    const offsets = column(this.launch.offsets);
    const served = column(this.launch.served);
    for (let i = 0; i < rows.count; i++) {
      const step = this.steps[rows.event[i]];
      const kind = KINDS[rows.kind[i]];
      const id = this.arrayOf(rows.array[i], step.block);
      const lanes = lanesOf(rows.mask[i]);
      const access = {
        array: id,
        space: SPACES[rows.space[i]],
        kind,
        writes: kind === "store" || kind === "atomic",
        lanes: [], // one entry for each element that a lane touches
        cells: [],
        values: [],
        parts: lanes.map((_, place) => served[rows.first[i] + place]),
        offsets: lanes.map((_, place) => offsets[rows.first[i] + place]),
        all: lanes,
        bytes: bytesOf(step.code.type) * step.code.elements, // of each lane
        requests: rows.requests[i],
        sectors: rows.sectors[i],
        wavefronts: rows.wavefronts[i],
        ideal: rows.ideal[i],
      };
      if (id >= 0) this.#elements(step, access);
      step.accesses.push(access);
    }
  }

  #elements(step, access) {
    const array = this.arrays[access.array];
    const isCopy = access.kind.startsWith("copy");
    const size = isCopy ? array.bytesEach : bytesOf(step.code.type);
    const each = Math.max(1, access.bytes / size);
    access.all.forEach((lane, place) => {
      for (let element = 0; element < each; element++) {
        access.lanes.push(lane);
        access.cells.push(Math.floor((access.offsets[place] + element * size) / array.bytesEach));
        access.values.push(isCopy ? NaN : this.valueOf(step, lane, element, array.type));
      }
    });
  }

  #barriers() {
    const rows = table(this.launch.barriers);
    const rounds = new Map();
    for (let i = 0; i < rows.count; i++) {
      const step = this.steps[rows.event[i]];
      const key = `${step.block}:${rows.number[i]}:${rows.round[i]}`;
      if (!rounds.has(key)) rounds.set(key, { arrivals: [], released: rows.released[i], round: rows.round[i] });
      const meeting = rounds.get(key);
      meeting.arrivals.push(step.n);
      step.barrier = { meeting, waits: Boolean(rows.waits[i]) };
    }
    this.meetings = [...rounds.values()].map((meeting) => {
      const there = new Set(meeting.arrivals.map((n) => this.steps[n].warp));
      const missing = Array.from({ length: this.warps }, (_, warp) => warp).filter((warp) => !there.has(warp));
      return Object.assign(meeting, { missing, block: this.steps[meeting.arrivals[0]].block });
    });
  }

  #copies() {
    const rows = table(this.launch.copies);
    this.copies = [];
    this.#copiedBytes(rows);
    for (let i = 0; i < rows.count; i++) {
      const step = this.steps[rows.event[i]];
      const array = this.arrayOf(rows.to[i], step.block);
      const copy = {
        start: step.n, lane: rows.lane[i], array, committed: rows.committed[i], arrived: rows.arrived[i],
        block: step.block, warp: step.warp, cells: [], values: [],
      };
      if (array >= 0) {
        const to = this.arrays[array];
        for (let at = 0; at < rows.bytes[i]; at += to.bytesEach) {
          copy.cells.push(Math.floor((rows.to_offset[i] + at) / to.bytesEach));
          copy.values.push(number(this.words, rows.value[i] + Math.floor(at / 4), to.type));
        }
      }
      this.copies.push(copy);
      if (copy.arrived >= 0) this.steps[copy.arrived].arrived.push(copy);
    }
  }

  /** How much a copy moves stands in no other table. */
  #copiedBytes(rows) {
    const done = new Set();
    for (let i = 0; i < rows.count; i++) {
      const step = this.steps[rows.event[i]];
      if (done.has(step)) continue;
      done.add(step);
      for (const access of step.accesses) {
        if (!access.kind.startsWith("copy") || access.array < 0) continue;
        Object.assign(access, { bytes: rows.bytes[i], lanes: [], cells: [], values: [] });
        this.#elements(step, access);
      }
    }
  }

  /** Which element of a global array every product ends up in: its store names the products it is made of. */
  #sums() {
    const rows = table(this.launch.sums);
    const products = table(this.launch.products);
    const terms = column(this.launch.terms);
    const side = (id, offset) => ({ array: id, cell: id < 0 ? -1 : Math.floor(offset / this.arrays[this.first[id]].bytesEach) });
    const factor = (r) => [
      side(products.left[r], products.left_offset[r]),
      side(products.right[r], products.right_offset[r]),
    ].map((one) => ({ ...one, array: one.array < 0 ? -1 : this.first[one.array] }));
    for (let i = 0; i < rows.count; i++) {
      const store = this.steps[rows.event[i]];
      for (const access of store.accesses) {
        const place = access.lanes.findIndex((lane, at) => lane === rows.lane[i] && access.lanes.slice(0, at).filter((l) => l === lane).length === rows.element[i]);
        if (place < 0 || access.array < 0) continue;
        for (let t = 0; t < rows.terms[i]; t++) {
          const product = terms[rows.first[i] + t];
          const step = this.steps[products.event[product]];
          const lane = products.lane[product];
          step.sums.push({
            array: access.array, cell: access.cells[place], lane, value: this.valueOf(step, lane),
            factors: factor(product), store: store.n,
          });
        }
      }
    }
  }

  /** What an atomic leaves behind stands nowhere but in the contents at the end. */
  #atomics() {
    const last = new Map();
    for (const step of this.steps) {
      for (const access of step.accesses) {
        if (access.kind !== "atomic" || access.array < 0) continue;
        access.cells.forEach((cell, i) => {
          access.values[i] = null;
          last.set(`${access.array}:${cell}`, [access, i, cell]);
        });
      }
    }
    for (const [access, i, cell] of last.values()) {
      const final = this.arrays[access.array].final;
      if (final) access.values[i] = final[cell];
    }
  }

  /** The sentence with its subject, and elements by their indices. */
  #told({ message, thread }) {
    const known = message.replace(/\bcudaMalloc #\d+/g, (text) => {
      const array = this.arrays.find((one) => one.name === text || one.allocation === text);
      return array?.name ?? text;
    });
    const named = known.replace(/\b([A-Za-z_]\w*)(?:\+| at byte )(\d+)(?: \(element \d+\))?(?!\w)/g, (text, name, bytes) => {
      const array = this.arrays.find((one) => one.name === name);
      return array ? this.name(array, Math.floor(bytes / array.bytesEach)) : text;
    });
    const lacksSubject = thread && /^(reads|writes|loads|stores|waits|uses|passes|leaves|copies|adds)\b/.test(named);
    return lacksSubject ? `Thread (${thread[0]},${thread[1]}${thread[2] ? `,${thread[2]}` : ""}) ${named}` : named;
  }

  /** Wrong elements of an output: the moment is the last store of the first of them, if there is one. */
  #wrongElement(finding, index) {
    const [{ array: name }] = finding.elements;
    const array = this.arrays.findIndex((one) => one.role === name && one.space === "global");
    const shape = this.arrays[array]?.shape ?? [];
    const cells = finding.elements.filter((one) => one.array === name)
      .map((one) => one.index.reduce((cell, i, axis) => cell * (shape[axis] ?? 1) + i, 0));
    let [at, lane] = [-1, -1];
    for (const step of this.steps) {
      for (const access of step.accesses) {
        const place = access.writes && access.array === array ? access.cells.indexOf(cells[0]) : -1;
        if (place >= 0) [at, lane] = [step.n, access.lanes[place]];
      }
    }
    return {
      ...finding, index, moment: at, at, lane, array, cells,
      line: finding.line || (this.steps[at]?.line ?? 0),
      parties: at >= 0 ? [{ n: at, lane }] : [],
    };
  }

  #finding(finding, index) {
    if (finding.elements?.length) return this.#wrongElement(finding, index);
    const { at, lane, other, other_lane: otherLane } = finding.events;
    const cells = [];
    let array = -1;
    const step = this.steps[at];
    for (const access of step?.accesses ?? []) {
      access.lanes.forEach((one, i) => {
        if (one !== lane || access.array < 0) return;
        array = access.array;
        cells.push(access.cells[i]);
      });
    }
    const shared = other >= 0 ? this.steps[other].accesses.flatMap((access) =>
      access.array === array ? access.cells.filter((_, i) => access.lanes[i] === otherLane) : []) : [];
    const both = cells.filter((cell) => shared.includes(cell));
    return {
      ...finding,
      message: this.#told(finding),
      index,
      moment: at >= 0 ? Math.max(at, other) : -1,
      parties: [{ n: other, lane: otherLane }, { n: at, lane }].filter(({ n }) => n >= 0).sort((a, b) => a.n - b.n),
      at, lane, array,
      cells: both.length ? both : cells,
    };
  }
}

/**
 * The outermost loops whose turns are phases: those with barriers, if there are any. `starts` are the
 * instructions at which a phase begins in a body that the compiler unrolled: as many as a barrier has copies.
 */
function phaseLoops(launch) {
  const found = new Map();
  launch.instructions.forEach((code, index) => {
    if (!code.loops.length) return;
    if (!found.has(code.loops[0])) found.set(code.loops[0], { barriers: 0, lines: new Map(), loads: [] });
    const loop = found.get(code.loops[0]);
    if (code.kind === "barrier") {
      loop.lines.set(code.line, (loop.lines.get(code.line) ?? 0) + 1);
      loop.barriers += 1;
    }
    if ((code.kind === "load" && code.op.includes("global")) || code.kind === "copy") {
      if (!loop.loads.length || (loop.loads[0].line === code.line && loop.loads[0].op === code.op)) {
        loop.loads.push({ line: code.line, op: code.op, index });
      }
    }
  });
  const hasBarriers = [...found.values()].some((loop) => loop.barriers);
  for (const [number, loop] of found) {
    const copies = loop.lines.size ? Math.min(...loop.lines.values()) : 1;
    const each = Math.floor(loop.loads.length / copies);
    loop.starts = copies > 1 && each > 0
      ? loop.loads.filter((_, i) => i % each === 0).slice(0, copies).map(({ index }) => index)
      : [];
    if (hasBarriers && !loop.barriers) found.delete(number);
  }
  return found;
}

function arraysOf(launch) {
  return launch.arrays.map((given) => {
    const bytesEach = bytesOf(given.type);
    const size = Math.max(1, Math.floor(given.bytes / bytesEach));
    const shape = given.shape.reduce((a, b) => a * b, 1) === size ? given.shape : [size];
    const initial = column(given.initial);
    const final = column(given.final);
    return {
      name: given.holds && given.name.startsWith("cudaMalloc") ? given.holds : given.name, allocation: given.name, space: given.space, type: given.type, address: given.address, bytesEach, size, shape,
      ...gridOf(shape, size),
      role: given.holds || given.name,
      isNamed: Boolean(given.holds),
      isTouched: false,
      initial: initial && contents(initial, given.type, size),
      final: final && contents(final, given.type, size),
    };
  });
}

function countBits(mask) {
  let count = 0;
  for (let rest = mask >>> 0; rest; rest &= rest - 1) count++;
  return count;
}
