// Where stepping stops: the steps that are looked at, in runs of one instruction, line, phase or barrier.

export const UNITS = ["instruction", "line", "phase", "barrier"];

/** The steps of one block, or of one of its warps, and their runs. */
export class Track {
  constructor(film, block, warp) {
    this.film = film;
    this.numbers = film.steps
      .filter((step) => step.block === block && (warp === null || step.warp === warp))
      .map((step) => step.n);
    this.runs = {};
  }

  /** The runs of a unit: first and last place in `numbers`, both included. */
  of(unit) {
    this.runs[unit] ??= this.#cut(unit);
    return this.runs[unit];
  }

  #cut(unit) {
    const runs = [];
    for (let i = 0; i < this.numbers.length; i++) {
      const step = this.film.steps[this.numbers[i]];
      const before = i ? this.film.steps[this.numbers[i - 1]] : null;
      if (!before || begins[unit](step, before)) runs.push({ from: i, to: i });
      runs[runs.length - 1].to = i;
    }
    return unit === "line" ? this.#telling(runs) : runs;
  }

  /** Lines at which nothing is to be seen, as the head of a loop, are part of what follows them. */
  #telling(runs) {
    const kept = [];
    let from = -1;
    runs.forEach((run, i) => {
      if (from < 0) from = run.from;
      const steps = this.numbers.slice(run.from, run.to + 1).map((n) => this.film.steps[n]);
      if (steps.some(isTelling) || i === runs.length - 1) {
        kept.push({ from, to: run.to });
        from = -1;
      }
    });
    return kept;
  }

  /** The run that the step lies in, or the last one before it. */
  runAt(unit, n) {
    const runs = this.of(unit);
    return Math.max(0, lastAtMost(runs, n, (run) => this.numbers[run.from]));
  }

  /** The steps of that run up to step n: what happens now. */
  now(unit, n) {
    const run = this.of(unit)[this.runAt(unit, n)];
    if (!run) return [];
    return this.numbers.slice(run.from, run.to + 1).filter((number) => number <= n);
  }

  /** The number of the step at which the next run ends; `by` is 1 or -1. */
  next(unit, n, by) {
    const runs = this.of(unit);
    if (!runs.length) return n;
    const here = this.runAt(unit, n);
    const end = this.numbers[runs[here].to];
    const wanted = by > 0 && n < end ? here : here + by;
    return this.numbers[runs[Math.min(Math.max(wanted, 0), runs.length - 1)].to];
  }

  /** The nearest step at or after n that the track has, else its last. */
  nearest(n) {
    const at = lastAtMost(this.numbers, n - 1, (number) => number) + 1;
    return this.numbers[Math.min(at, this.numbers.length - 1)] ?? 0;
  }

  get first() {
    return this.numbers[0] ?? 0;
  }

  get last() {
    return this.numbers[this.numbers.length - 1] ?? 0;
  }
}

const begins = {
  instruction: () => true,
  line: (step, before) =>
    step.warp !== before.warp || step.line !== before.line || step.turn !== before.turn ||
    (before.sums.length > 0 && step.accesses.length > 0),
  phase: (step, before) => step.phase !== before.phase,
  barrier: (step, before) => step.interval !== before.interval,
};

/** The last place whose number is at most n; -1 if there is none. The numbers rise. */
export function lastAtMost(list, n, number) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (number(list[middle]) <= n) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Whether a step does something that can be seen. */
export function isTelling(step) {
  return step.accesses.length > 0 || step.sums.length > 0 || step.barrier !== null || step.arrived.length > 0;
}
