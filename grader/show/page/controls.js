// Buttons, lists, keys and the pointer; playing.

import { place } from "./address.js";
import { element } from "./parts.js";
import { UNITS } from "./stops.js";

const KEYS = [
  [["Space"], "play or pause"],
  [["←", "→"], "one step back or on"],
  [["Shift ←", "Shift →"], "one phase back or on"],
  [["b", "B"], "to the next or previous barrier"],
  [["i", "l", "p", "r"], "step by instruction, line, phase, barrier"],
  [["f", "F"], "next or previous finding"],
  [["k", "K"], "next or previous block"],
  [["w", "W"], "next or previous warp, all after the last"],
  [["t", "T"], "next or previous thread, all after the last"],
  [["Home", "End"], "to the beginning, to the end"],
  [["Esc"], "all warps, all threads, no finding"],
  [["?"], "these keys"],
];

export class Controls {
  constructor() {
    this.viewer = null;
    this.timer = 0;
    this.#buttons();
    this.#pointer();
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Fills the lists for the launch that is shown. */
  attach(viewer) {
    this.pause();
    this.viewer = viewer;
    const { film } = viewer;
    options("block", film.blocks.map((block) => [block, `(${place(film.blockPlace(block))})`]));
    options("warp", [["", "all"], ...Array.from({ length: film.warps }, (_, warp) => [warp, warp])]);
    element("of-warp").hidden = film.warps < 2;
    options("thread", [["", "all"], ...Array.from({ length: film.threads }, (_, thread) => [thread, `(${place(film.thread(thread))})`])]);
    this.refresh();
  }

  refresh() {
    const { viewer } = this;
    element("block").value = viewer.block;
    element("warp").value = viewer.warp ?? "";
    element("thread").value = viewer.thread ?? "";
    for (const input of element("by").querySelectorAll("input")) input.checked = input.value === viewer.by;
    document.querySelectorAll("#finding-list a").forEach((link, i) => {
      link.setAttribute("aria-current", String(viewer.finding?.index === i));
    });
  }

  // ---- playing ----

  play() {
    if (this.timer) return this.pause();
    if (this.viewer.n >= this.viewer.track.last) this.viewer.toPlace(1);
    element("play").classList.add("playing");
    element("play").setAttribute("aria-label", "Pause");
    const tick = () => {
      if (!this.viewer.move(1)) return this.pause();
      this.timer = setTimeout(tick, 1000 / Number(element("speed").value));
    };
    this.timer = setTimeout(tick, 150);
    return undefined;
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = 0;
    element("play").classList.remove("playing");
    element("play").setAttribute("aria-label", "Play");
  }

  // ---- parts ----

  #buttons() {
    const on = (id, act) => element(id).addEventListener("click", () => act());
    const moved = (act) => () => {
      this.pause();
      act();
    };
    on("first", moved(() => this.viewer.toPlace(1)));
    on("back", moved(() => this.viewer.move(-1)));
    on("play", () => this.play());
    on("on", moved(() => this.viewer.move(1)));
    on("last", moved(() => this.viewer.to(this.viewer.track.last)));
    on("help", () => element("keys").showModal());
    for (const unit of UNITS) {
      const label = document.createElement("label");
      const input = Object.assign(document.createElement("input"), { type: "radio", name: "by", value: unit });
      const text = document.createElement("span");
      text.textContent = unit;
      label.append(input, text);
      input.addEventListener("change", () => this.#by(unit));
      element("by").append(label);
    }
    element("scrubber").addEventListener("input", (event) => {
      this.pause();
      this.viewer.toPlace(Number(event.target.value));
    });
    const number = (text) => (text === "" ? null : Number(text));
    for (const name of ["block", "warp", "thread"]) {
      element(name).addEventListener("change", (event) => this.viewer.choose({ [name]: number(event.target.value) }));
    }
    for (const [keys, text] of KEYS) {
      const [term, about] = [document.createElement("dt"), document.createElement("dd")];
      keys.forEach((key, i) => {
        const shown = document.createElement("kbd");
        shown.textContent = key;
        term.append(i ? " " : "", shown);
      });
      about.textContent = text;
      element("key-list").append(term, about);
    }
  }

  #by(unit) {
    this.viewer.by = unit;
    this.viewer.to(this.viewer.n);
  }

  #pointer() {
    const tip = element("tip");
    const hide = () => {
      tip.hidden = true;
    };
    element("matrices").addEventListener("pointermove", (event) => {
      const cell = this.viewer.matrices.at(event.offsetX, event.offsetY);
      if (!cell) return hide();
      tip.textContent = this.viewer.about(cell);
      tip.hidden = false;
      tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - 250)}px`;
      tip.style.top = `${event.clientY + 16}px`;
      return undefined;
    });
    element("matrices").addEventListener("pointerleave", hide);
    element("matrices").addEventListener("click", (event) => {
      const cell = this.viewer.matrices.at(event.offsetX, event.offsetY);
      const thread = cell && this.viewer.threadOf(cell);
      if (thread !== null && thread !== undefined) this.viewer.choose({ thread: thread === this.viewer.thread ? null : thread });
    });
    const seek = (event) => {
      const n = this.viewer.timeline.at(event.offsetX, event.offsetY, this.viewer.barView);
      if (n === null) return;
      this.pause();
      this.viewer.to(n);
    };
    element("timeline").addEventListener("pointerdown", seek);
    element("timeline").addEventListener("pointermove", (event) => event.buttons === 1 && seek(event));
  }

  #key(event) {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || element("keys").open) return;
    const isList = target.tagName === "SELECT";
    const isSlider = target.tagName === "INPUT";
    const scrolls = target.id === "source" && ["Home", "End"].includes(key);
    if (isList || scrolls || (isSlider && /^(Arrow|Home|End|Page)/.test(key))) return;
    if (key === " " && (target.tagName === "BUTTON" || target.tagName === "A")) return;
    const act = this.#action(key, event.shiftKey);
    if (!act) return;
    event.preventDefault();
    if (key !== " ") this.pause();
    act();
  }

  #action(key, shift) {
    const { viewer } = this;
    const turn = (name, list, by) => () => {
      const at = list.indexOf(viewer[name]);
      viewer.choose({ [name]: list[(at + by + list.length) % list.length] });
    };
    const count = (size) => [null, ...Array.from({ length: size }, (_, i) => i)];
    const finding = (by) => () => {
      const all = viewer.film.findings.length;
      if (all) viewer.toFinding(((viewer.finding?.index ?? (by > 0 ? -1 : 0)) + by + all) % all);
    };
    const actions = {
      " ": () => this.play(),
      ArrowRight: () => viewer.move(1, shift ? "phase" : viewer.by),
      ArrowLeft: () => viewer.move(-1, shift ? "phase" : viewer.by),
      b: () => viewer.move(1, "barrier"),
      B: () => viewer.move(-1, "barrier"),
      i: () => this.#by("instruction"),
      l: () => this.#by("line"),
      p: () => this.#by("phase"),
      r: () => this.#by("barrier"),
      f: finding(1),
      F: finding(-1),
      k: turn("block", viewer.film.blocks, 1),
      K: turn("block", viewer.film.blocks, -1),
      w: turn("warp", count(viewer.film.warps), 1),
      W: turn("warp", count(viewer.film.warps), -1),
      t: turn("thread", count(viewer.film.threads), 1),
      T: turn("thread", count(viewer.film.threads), -1),
      Home: () => viewer.toPlace(1),
      End: () => viewer.to(viewer.track.last),
      Escape: () => {
        viewer.finding = null;
        viewer.choose({ warp: null, thread: null });
      },
      "?": () => element("keys").showModal(),
    };
    return actions[key];
  }
}

function options(id, list) {
  element(id).replaceChildren(...list.map(([value, text]) => new Option(text, value)));
}
