// What was counted up to a step. Over a whole launch the sums are the counters that the report shows.

export const COUNTED = [
  ["global_load_sectors", "sectors loaded"],
  ["global_store_sectors", "sectors stored"],
  ["shared_load_wavefronts", "wavefronts loaded"],
  ["shared_store_wavefronts", "wavefronts stored"],
  ["matrix_load_wavefronts", "wavefronts of ldmatrix"],
  ["bank_conflicts", "bank conflicts"],
  ["barriers", "barriers"],
];

/** What one step counts, by the counters' names. */
export function counted(step) {
  const found = { instructions: 1 };
  const add = (name, amount) => {
    if (amount) found[name] = (found[name] ?? 0) + amount;
  };
  for (const access of step.accesses) {
    const isStore = access.kind === "store" || access.kind === "copy-write";
    const way = isStore ? "store" : "load";
    if (access.space === "shared") add("bank_conflicts", access.wavefronts - access.ideal);
    if (access.kind === "atomic") continue; // neither a load nor a store
    if (access.space === "global") add(`global_${way}_sectors`, access.sectors);
    if (access.space === "shared") {
      const unit = /^(ld|st)matrix/.test(step.code.op) ? "matrix" : "shared";
      add(`${unit}_${way}_wavefronts`, access.wavefronts);
    }
  }
  if (step.kind === "barrier") add("barriers", 1);
  return found;
}

/** Sums over steps, ready for every step. */
export class Tally {
  constructor(film) {
    this.sums = COUNTED.map(() => new Float64Array(film.steps.length + 1));
    film.steps.forEach((step, n) => {
      const now = counted(step);
      COUNTED.forEach(([name], i) => {
        this.sums[i][n + 1] = this.sums[i][n] + (now[name] ?? 0);
      });
    });
  }

  /** {name: amount} of the steps up to and with step n. */
  upTo(n) {
    return Object.fromEntries(COUNTED.map(([name], i) => [name, this.sums[i][Math.min(n + 1, this.sums[i].length - 1)]]));
  }
}
