// Another run beside the one that is stepped through: at the same phase, and as far within it.

import { place as written } from "./address.js";
import { Film } from "./film.js";
import { Fold } from "./fold.js";
import { Matrices } from "./matrices.js";
import { Track } from "./stops.js";
import { Tally } from "./tally.js";
import { element, fill } from "./parts.js";
import { sentence } from "./words.js";

/** The steps of a block in pieces: before the phases, each phase, after them. */
function pieces(film, track) {
  const found = new Map();
  for (const n of track.numbers) {
    const step = film.steps[n];
    const key = step.phase >= 0 ? step.phase : n < (film.firstPhase[step.block] ?? Infinity) ? "before" : "after";
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(n);
  }
  return found;
}

/** The step of `other` that belongs to step n: in the same phase, at the same part of it. */
export function aligned(film, track, n, other, otherTrack) {
  const step = film.steps[n];
  const here = pieces(film, track);
  const there = pieces(other, otherTrack);
  const key = [...here.keys()].find((one) => here.get(one).includes(n)) ?? "before";
  const matching = there.get(key) ?? (step.phase >= other.phases ? there.get("after") : null) ?? otherTrack.numbers;
  const mine = here.get(key) ?? [n];
  const part = (mine.indexOf(n) + 1) / mine.length;
  return matching[Math.max(0, Math.ceil(part * matching.length) - 1)] ?? 0;
}

export class Beside {
  constructor(trace, launch, title) {
    this.film = new Film(trace, launch);
    this.fold = new Fold(this.film);
    this.tally = new Tally(this.film);
    this.matrices = new Matrices(element("beside-matrices"), this.film, this.fold);
    this.title = title;
    this.tracks = new Map();
  }

  track(block) {
    if (!this.tracks.has(block)) this.tracks.set(block, new Track(this.film, block, null));
    return this.tracks.get(block);
  }

  /** Draws what belongs to the moment of a viewer. */
  draw(viewer, colours) {
    const wanted = this.film.blockNumber(viewer.film.blockPlace(viewer.block));
    const block = this.film.blocks.includes(wanted) ? wanted : this.film.blocks[0];
    const track = this.track(block);
    const n = aligned(viewer.film, viewer.track, viewer.n, this.film, track);
    const now = track.now(viewer.by, n);
    const text = sentence(this.film, now, {});
    element("beside-where").textContent = `${this.title}, block (${written(this.film.blockPlace(block))}): ${text.where}`;
    element("beside-what").textContent = text.what;
    fill(element("beside-tally"), this.tally.upTo(n), this.film.launch.counters);
    this.matrices.drawInPane({ n, now, block, thread: null, finding: null, colours });
    this.n = n;
  }
}
