// A moment has an address: what stands behind the # of the page.
//   #step=37&by=line&block=0,1&warp=2&thread=1,0     #finding=1

const NUMBERS = ["step", "warp", "finding"];
const PLACES = ["block", "thread"];
const UNITS = ["instruction", "line", "phase", "barrier"];

/** "#step=37&thread=1,0" -> {step: 37, thread: [1, 0, 0]}; what is no address is left out. */
export function read(hash) {
  const found = {};
  for (const part of hash.replace(/^#/, "").split("&")) {
    const [name, value = ""] = part.split("=");
    if (NUMBERS.includes(name) && /^\d{1,9}$/.test(value)) found[name] = Number(value);
    if (name === "by" && UNITS.includes(value)) found.by = value;
    if (PLACES.includes(name) && /^\d{1,9}(,\d{1,9}){0,2}$/.test(value)) {
      found[name] = [...value.split(",").map(Number), 0, 0].slice(0, 3);
    }
  }
  return found;
}

/** The other way round; a third coordinate of 0 is not written. */
export function write(moment) {
  const parts = [];
  for (const name of ["step", "by", "block", "warp", "thread", "finding"]) {
    const value = moment[name];
    if (value === undefined || value === null) continue;
    parts.push(`${name}=${Array.isArray(value) ? place(value) : value}`);
  }
  return `#${parts.join("&")}`;
}

/** [1, 0, 0] -> "1,0": coordinates as students write them. */
export function place([x, y = 0, z = 0]) {
  return z ? `${x},${y},${z}` : `${x},${y}`;
}
