// The source with its current line, its heat, and marks at the lines that findings are about.

/** Fills the list once; show() moves the marks. */
export class Source {
  constructor(list, film, file, go) {
    Object.assign(this, { list, film, file });
    const text = film.trace.files[file]?.text;
    this.lines = (text ?? "").replace(/\n$/, "").split("\n");
    this.totals = new Float64Array(this.lines.length + 1);
    for (const step of film.steps) if (step.file === file) this.totals[step.line] += 1;
    const wrong = new Set(film.findings.flatMap((one) => [one.line, one.other?.line].filter(Boolean)));
    this.items = this.lines.map((line, i) => {
      const item = document.createElement("li");
      item.append(span("n", i + 1), heat(), code(line));
      if (this.totals[i + 1]) {
        item.classList.add("runs");
        item.addEventListener("click", () => go(i + 1));
      }
      if (wrong.has(i + 1)) item.classList.add("wrong");
      return item;
    });
    if (text === null || text === undefined) this.items = [hidden()];
  }

  attach() {
    this.list.replaceChildren(...this.items);
  }

  /** Marks the line, the parties of a finding, and how often each line has run up to step n. */
  show(n, line, finding) {
    const most = Math.max(1, ...this.totals);
    const done = this.#upTo(n);
    this.items.forEach((item, i) => {
      const number = i + 1;
      const isCurrent = number === line;
      item.classList.toggle("current", isCurrent);
      if (isCurrent) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
      item.classList.toggle("party", Boolean(finding) && [finding.line, finding.other?.line].includes(number));
      if (!this.totals[number] || item.children[1].children.length < 2) return;
      const [all, yet] = item.children[1].children;
      all.style.width = `${(100 * this.totals[number]) / most}%`;
      yet.style.width = `${(100 * done[number]) / most}%`;
    });
    this.#scrollTo(line);
  }

  #upTo(n) {
    if (!this.counted || n < this.counted.n) {
      this.counted = { n: -1, lines: new Float64Array(this.lines.length + 1) };
    }
    while (this.counted.n < Math.min(n, this.film.steps.length - 1)) {
      const step = this.film.steps[++this.counted.n];
      if (step.file === this.file) this.counted.lines[step.line] += 1;
    }
    return this.counted.lines;
  }

  #scrollTo(line) {
    const item = this.items[line - 1];
    if (!item || this.list.clientHeight === 0) return;
    const [top, height] = [item.offsetTop, this.list.clientHeight];
    if (top < this.list.scrollTop + 24 || top > this.list.scrollTop + height - 48) {
      this.list.scrollTop = top - height * 0.4;
    }
  }
}

function hidden() {
  const item = document.createElement("li");
  item.append(span("n", ""), span("heat", ""), code("The source of this run is not shown."));
  return item;
}

function span(name, text) {
  const element = document.createElement("span");
  element.className = name;
  element.textContent = text;
  return element;
}

function heat() {
  const element = span("heat", "");
  const yet = document.createElement("i");
  yet.className = "yet";
  element.append(document.createElement("i"), yet);
  return element;
}

const WORDS = new Set(
  ("__global__ __shared__ __device__ __host__ __restrict__ __launch_bounds__ auto bool break case const constexpr continue " +
    "default do double else extern false float for if inline int long namespace return short sizeof static struct switch " +
    "template true typedef typename unsigned using void volatile while char").split(" "),
);
const TOKENS = /(\/\/.*$|\/\*.*?\*\/)|("(?:[^"\\]|\\.)*")|(^\s*#\s*\w+)|(\b\d[\w.]*)|([A-Za-z_]\w*)/g;

/** A line with its comments, words of the language, strings and numbers in spans. */
function code(line) {
  const element = document.createElement("code");
  let at = 0;
  for (const found of line.matchAll(TOKENS)) {
    const [text, comment, string, directive, number, word] = found;
    const kind = comment ? "c" : string ? "s" : directive ? "p" : number ? "num" : WORDS.has(word) ? "k" : "";
    if (!kind) continue;
    element.append(line.slice(at, found.index), span(kind, text));
    at = found.index + text.length;
  }
  element.append(line.slice(at) || (at ? "" : " "));
  return element;
}
