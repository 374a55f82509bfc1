// What every array holds after a step: the steps before it folded up, from the nearest keyframe.

const KEYFRAME = 512; // steps from one keyframe to the next

/** Values, writers and growing sums of all arrays; a cell that nobody wrote holds NaN and writer -1. */
function blank(film) {
  return film.arrays.map((array) => ({
    values: array.initial ? Float64Array.from(array.initial) : new Float64Array(array.size).fill(NaN),
    writers: new Int32Array(array.size).fill(-1), // number of the step that wrote the cell
    sums: new Map(), // cell -> the value that will be stored there, as far as it has grown
  }));
}

function copy(state) {
  return state.map((array) => ({
    values: array.values.slice(),
    writers: array.writers.slice(),
    sums: new Map(array.sums),
  }));
}

function apply(state, step) {
  for (const access of step.accesses) if (access.array >= 0 && access.writes) put(state[access.array], access, step.n);
  for (const copy of step.arrived) if (copy.array >= 0) put(state[copy.array], copy, copy.start);
  for (const sum of step.sums) state[sum.array].sums.set(sum.cell, sum.value);
}

/** A value of null is one that the trace does not know: the cell was written, and keeps what it shows. */
function put(array, { cells, values }, writer) {
  cells.forEach((cell, i) => {
    if (cell < 0 || cell >= array.values.length) return; // outside: a finding says so
    if (values[i] !== null) array.values[cell] = values[i];
    array.writers[cell] = writer;
    array.sums.delete(cell);
  });
}

/** Folds a film; at(n) is the state after step n, and -1 the state before the first. */
export class Fold {
  constructor(film) {
    this.film = film;
    this.keyframes = [blank(film)]; // before steps 0, KEYFRAME, 2 * KEYFRAME, ...
    this.now = { n: -1, state: copy(this.keyframes[0]) };
  }

  at(wanted) {
    const n = Math.min(wanted, this.film.steps.length - 1); // a launch that was refused has no step
    if (n < this.now.n || n > this.now.n + KEYFRAME) this.#jump(n);
    while (this.now.n < n) this.#forward();
    return this.now.state;
  }

  #jump(n) {
    const wanted = Math.min(Math.floor((n + 1) / KEYFRAME), this.keyframes.length - 1);
    this.now = { n: wanted * KEYFRAME - 1, state: copy(this.keyframes[wanted]) };
  }

  #forward() {
    const next = this.now.n + 1;
    if (next % KEYFRAME === 0 && next / KEYFRAME === this.keyframes.length) {
      this.keyframes.push(copy(this.now.state));
    }
    apply(this.now.state, this.film.steps[next]);
    this.now.n = next;
  }
}
