"""What an interpreted kernel computes with: one number for all lanes, or an array of one each.

Where a batch of edits is carried out, what differs among them has a row for each edit; what does not
is one row that stands for all of them (batch.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grader.judging.repair import halves

try:  # without the wrapper, which takes ten times as long for the few lanes of most masks
    from numpy._core.multiarray import count_nonzero
except ImportError:
    from numpy import count_nonzero


class Fault(Exception):
    """The program touches what it may not, in a statement of this line, as far as known."""

    line = 0


class Outside(Fault):
    """An access that leaves its array, whose name it says."""


class Unset(Fault):
    """A word of shared memory is read that nobody has written; the array's name."""


class Nowhere(int):
    """nullptr of a pointer that counts in bytes: so does what it is given later."""


NOWHERE = Nowhere(0)


class Nothing:
    """std::nullopt."""

    def __bool__(self) -> bool:
        return False


NOTHING = Nothing()


PAIR = "__nv_bfloat162"  # what a struct of two bf16 is called


class Text:
    """A std::string or what is printed. `says`: None where that is not known, and equal to all."""

    def __init__(self, says: str | None = None) -> None:
        self.says = says

    def _same(self, other):
        return self

    __lshift__ = __rshift__ = _same

    def __add__(self, other):
        known = [one.says for one in (self, other) if one.__class__ is Text]
        return Text("".join(known)) if len(known) == 2 and None not in known else TEXT

    __radd__ = _same

    def __eq__(self, other) -> bool:
        if other.__class__ is not Text:
            return NotImplemented
        return None in (self.says, other.says) or self.says == other.says

    def __hash__(self) -> int:
        return hash(self.says)

    def __len__(self) -> int:
        return 1


TEXT = Text()


class Kernel:
    """A function of the file as a value, and what its template parameters stand for."""

    __slots__ = ("function", "given")

    def __init__(self, function: object, given: tuple) -> None:
        self.function, self.given = function, given


class Choice:
    """Lambdas, of which the one is called whose parameters are what it is given."""

    __slots__ = ("options",)

    def __init__(self, options: list[tuple]) -> None:
        self.options = options  # (types of its parameters, the lambda)

    def for_these(self, given: list):
        for kinds, closure in self.options:
            if len(kinds) == len(given) and all(map(_is_of, kinds, given)):
                return closure
        return None


def _is_of(kind, value) -> bool:
    if kind.name == "auto":
        return True
    if value.__class__ is Struct:
        return value.kind in (kind.name, "")
    return bool(kind.stars) or kind.name in ("int", "float", "bool")


@dataclass(slots=True)
class Closure:
    """A lambda, and the frame that it was written in."""

    names: list[str]
    body: object
    declared: set[str]
    home: object
    bodies: object = None  # of one for any number of arguments: names and body for so many
    others: tuple | list = ()  # which of its arguments it may change


class Names(tuple):
    """Of the numbers that a struct consists of, in order: a name and whether it is an integer.

    Of structs in it "lo.x", if `lo` has an x.
    """

    kind = ""  # the struct's
    kinds: dict[str, str] = {}  # of the structs in it, by their names
    is_half = False  # each of its numbers has 2 bytes
    is_deep = False  # there are structs in it

    def of(self, name: str) -> tuple[int, Names]:
        """Where one of them begins, and its own names, if it has any."""
        for at, (one, _) in enumerate(self):
            if one == name:
                return at, Names()
            if one.startswith(name + "."):
                inner = Names(
                    (n[len(name) + 1 :], is_int) for n, is_int in self if n.startswith(name + ".")
                )
                inner.kind, inner.is_half = self.kinds.get(name, ""), self.is_half
                inner.kinds = {
                    n[len(name) + 1 :]: kind
                    for n, kind in self.kinds.items()
                    if n.startswith(name + ".")
                }
                inner.is_deep = bool(inner.kinds)
                return at, inner
        raise KeyError(name)


@dataclass(slots=True)
class Pointer:
    """`dims`: of the array that it is, outermost first; `unit`: floats of what it points to.

    `is_packed`: each of these is two elements of 2 bytes, in the two halves of a word.
    """

    memory: object
    off: object = 0
    dims: tuple[int, ...] = ()
    unit: int = 1
    names: tuple[tuple[str, bool], ...] = ()  # fields of the structs there, and which are integers
    is_packed: bool = False

    def moved(self, by) -> Pointer:
        step = 2 * self.unit if self.is_packed else self.unit
        for size in self.dims[1:]:
            step *= size
        off = self.off + by * step
        return Pointer(self.memory, off, self.dims, self.unit, self.names, self.is_packed)

    def further(self, words) -> Pointer:
        off = self.off + words
        return Pointer(self.memory, off, self.dims, self.unit, self.names, self.is_packed)

    def at(self, index) -> Pointer:
        found = self.moved(index)
        found.dims = self.dims[1:]
        return found

    def load(self, mask):
        if self.memory.kind == "host" and self.memory.is_closed:
            raise Fault("host memory")
        if self.is_packed:
            return self._packed(mask)
        if self.unit < 1:
            raise Fault("a byte")
        if self.unit == 1 and not self.names:
            return self.memory.load(self.off, mask)
        if self.names:
            names, found = self.names, {}
            for i, (name, is_int) in enumerate(names):
                value = self.memory.load(self.off + i, mask)
                found[name] = to_int(value) if is_int else value
            return nested(found, names) if names.is_deep else Struct(found, names.kind)
        self.aligned(mask)
        self._metered(mask, False)
        names = "xyzw"[: self.unit]
        parts = {n: self.memory.load(self.off + i, mask) for i, n in enumerate(names)}
        return Struct(parts, PAIR if self.memory.is_half else "")

    def store(self, mask, value) -> None:
        if self.memory.kind == "host" and (self.memory.is_closed or self.memory.is_input):
            raise Fault("host memory")
        if self.is_packed:
            self._unpack(mask, value)
            return
        if self.unit < 1:
            raise Fault("a byte")
        if self.unit == 1 and not self.names:
            self.memory.store(self.off, mask, value)
            return
        if not self.names:
            self.aligned(mask)
            self._metered(mask, True)
        names = [name for name, _ in self.names] or "xyzw"[: self.unit]
        for i, name in enumerate(names):
            part = value.fields[name] if "." not in name else inside(value, name)
            if part.__class__ is Ref:
                part = part.get(mask)
            self.memory.store(self.off + i, mask, np.nan if part is None else part)

    def _metered(self, mask, is_store: bool) -> None:
        """All of its words are one access."""
        meter = getattr(self.memory, "meter", None)
        if meter is not None:
            words = self.unit << self.is_packed
            meter.note(self.off, mask, self.memory.is_half, is_store, words)
            meter.silent = words

    def _packed(self, mask):
        self.aligned(mask)
        self._metered(mask, False)
        words = [
            halves.packed(
                self.memory.load(self.off + 2 * i, mask),
                self.memory.load(self.off + 2 * i + 1, mask),
            )
            for i in range(self.unit)
        ]
        return words[0] if self.unit == 1 else Struct(dict(zip("xyzw", words, strict=False)))

    def _unpack(self, mask, value) -> None:
        self.aligned(mask)
        self._metered(mask, True)
        words = [value] if self.unit == 1 else list(value.fields.values())
        for i, word in enumerate(words[: self.unit]):
            low, high = halves.unpacked(word)
            self.memory.store(self.off + 2 * i, mask, low)
            self.memory.store(self.off + 2 * i + 1, mask, high)

    def store_at(self, place: tuple[int, ...], value) -> None:
        """One of an array's first values."""
        found = self
        for index in place:
            found = found.at(index)
        found.store(True, value)

    def aligned(self, mask) -> None:
        bad = self.off % (self.unit << self.is_packed) != 0
        if mask is not True:
            bad = bad & mask
        if np.any(bad):
            if self.memory.kind != "local" and self.memory.effects is not None:
                self.memory.effects.outside.append(bad if bad.__class__ is np.ndarray else mask)
                return
            if self.memory.batch is None:
                raise Fault("alignment")
            self.memory.batch.drop(bad if bad.__class__ is np.ndarray else mask)


class Struct:
    """`lead`: of an array of structs that hold arrays, how many indices choose one.

    Each of its fields is one array then, of all these structs. Or, where they lie one after the other
    in memory, `shape` says how many there are for each index, and how many words these take, and the
    fields are those of the first one.
    """

    __slots__ = ("fields", "kind", "lead", "shape")

    def __init__(self, fields: dict, kind: str = "", lead: int = 0, shape: tuple = ()) -> None:
        self.fields, self.kind = fields, kind  # its type's name, where that is known
        self.lead, self.shape = lead, shape

    def like(self, fields: dict) -> Struct:
        return Struct(fields, self.kind, self.lead, self.shape)

    def copy(self) -> Struct:
        return self.like(
            {n: v.copy() if isinstance(v, Struct) else v for n, v in self.fields.items()}
        )

    def further(self, words) -> dict:
        """Its fields so many words further on."""
        found = {}
        for name, value in self.fields.items():
            if value.__class__ is Ref:
                found[name] = Ref(value.target.further(words))
            elif value.__class__ is Struct:
                found[name] = value.like(value.further(words))
            else:
                found[name] = value.further(words) if value.__class__ is Pointer else value
        return found

    def moved(self, by) -> Struct:
        """A pointer to structs of an array."""
        if self.shape:
            return self.like(self.further(by * self.shape[0][1]))
        found = {}
        for name, value in self.fields.items():
            if value.__class__ is Ref:
                found[name] = Ref(value.target.moved(by))
            elif value.__class__ is Pointer or value.__class__ is Struct:
                found[name] = value.moved(by)
            else:
                found[name] = value
        return self.like(found)

    def at(self, index) -> Struct:
        """One of an array."""
        if self.shape:
            found = self.further(index * self.shape[0][1])
            return Struct(found, self.kind, self.lead - 1, self.shape[1:])
        found = {}
        for name, value in self.fields.items():
            if value.__class__ is Ref:
                found[name] = Ref(value.target.at(index))
            elif value.__class__ is Pointer or value.__class__ is Struct:
                found[name] = value.at(index)
            else:  # what a template's parameter stands for
                found[name] = value
        return Struct(found, self.kind, self.lead - 1)


def nested(found: dict, names: Names) -> Struct:
    """A struct of the numbers that it consists of."""
    whole = Struct({}, names.kind)
    for path, value in found.items():
        *outer, last = path.split(".")
        here = whole
        for at, name in enumerate(outer):
            kind = names.kinds.get(".".join(outer[: at + 1]), "")
            here = here.fields.setdefault(name, Struct({}, kind))
        here.fields[last] = value
    return whole


def inside(value: Struct, path: str):
    """One of the numbers that a struct consists of."""
    for name in path.split("."):
        if value.__class__ is not Struct:
            return value
        value = value.fields.get(name)
    return value


@dataclass(slots=True)
class Place:
    """&variable, or &struct.field."""

    holder: dict
    name: str


@dataclass(slots=True)
class Ref:
    """What a C++ reference is another name of."""

    target: Place | Pointer

    def get(self, mask):
        if self.target.__class__ is Place:
            return self.target.holder[self.target.name]
        return self.target.load(mask)


_PLAIN = (int, float, np.generic)  # numbers


def has_rows(value) -> bool:
    """Whether it differs among the edits of a batch."""
    return value.__class__ is np.ndarray and value.ndim > 1


def merged(mask, new, old):
    """`new` for active lanes, `old` for the others."""
    if mask is True:
        return new
    if new.__class__ is Pointer:
        if has_rows(mask) and old is not None and not _is_alike(old, new):
            return _of_most(mask, new, old)
        if old.__class__ is not Pointer or old.memory is not new.memory:
            return new
        off = np.where(mask, new.off, old.off)
        return Pointer(new.memory, off, new.dims, new.unit, new.names, new.is_packed)
    if new.__class__ is Struct:
        if old.__class__ is not Struct:
            return new
        return new.like({n: merged(mask, v, old.fields.get(n, v)) for n, v in new.fields.items()})
    if old is None or (new.__class__ is not np.ndarray and not isinstance(new, _PLAIN)):
        return new
    if old.__class__ is not np.ndarray and not isinstance(old, _PLAIN):
        return new  # another variable of that name, of a block that is over
    return np.where(mask, new, old)


def _is_alike(one, two) -> bool:
    """Whether two pointers differ in nothing but where in the same memory they point to."""
    return one.__class__ is two.__class__ and one.memory is two.memory and (
        (one.dims, one.unit, one.names, one.is_packed)
        == (two.dims, two.unit, two.names, two.is_packed)
    )  # fmt: skip


def _of_most(mask, new: Pointer, old):
    """A pointer is one value for all edits of a batch: those of which it is another one are out.

    They are carried out alone, whichever are fewer.
    """
    batch = new.memory.batch or (old.memory.batch if old.__class__ is Pointer else None)
    if batch is None:
        return new
    changed = mask.any(axis=1)
    is_for_few = 2 * np.count_nonzero(changed & ~batch.dead) <= np.count_nonzero(~batch.dead)
    for number in np.flatnonzero((changed if is_for_few else ~changed) & ~batch.dead).tolist():
        batch.leave_alone(number)
    return old if is_for_few else new


def is_integer(value) -> bool:
    if value.__class__ is np.ndarray:
        return value.dtype.kind in "iub"
    return isinstance(value, (int, np.integer))


def to_int(value):
    if value.__class__ is np.ndarray:
        if value.dtype.kind in "iu":
            return value
        return np.nan_to_num(np.trunc(value), nan=0.0, posinf=0.0, neginf=0.0).astype(np.int64)
    if isinstance(value, (float, np.floating)):
        return int(value) if np.isfinite(value) else 0
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    return value


def to_float(value):
    if value.__class__ is np.ndarray:
        return value if value.dtype.kind == "f" else value.astype(np.float64)
    if isinstance(value, (int, np.integer, np.bool_)):
        return float(value)
    return value


def bits_of(value):
    """__float_as_uint."""
    found = np.asarray(to_float(value), np.float32).view(np.uint32).astype(np.int64)
    return found if found.ndim else int(found)


def float_of(value):
    """__uint_as_float."""
    bits = (np.asarray(to_int(value), np.int64) & 0xFFFFFFFF).astype(np.uint32)
    found = bits.view(np.float32).astype(np.float64)
    return found if found.ndim else float(found)


def _shift_of(a, b) -> int:
    """n where b is 2 to the n and nothing of a is below 0: these are most divisions. Else -1."""
    if b.__class__ is not int or b < 1 or b & (b - 1):
        return -1
    if a.__class__ is int:
        return b.bit_length() - 1 if a >= 0 else -1
    if a.__class__ is not np.ndarray or a.dtype.kind != "i" or a.min() < 0:
        return -1
    return b.bit_length() - 1


def divided(a, b):
    shift = _shift_of(a, b)
    if shift >= 0:
        return a >> shift
    if not (is_integer(a) and is_integer(b)):
        return np.divide(a, b)
    if np.any(np.equal(b, 0)):
        raise Fault("division by 0")
    whole = a // b
    if np.any(np.less(a, 0)) or np.any(np.less(b, 0)):
        whole = whole + ((a - whole * b != 0) & (np.less(a, 0) != np.less(b, 0)))
    return whole


def remainder(a, b):
    if _shift_of(a, b) >= 0:
        return a & (b - 1)
    if np.any(np.equal(b, 0)):
        raise Fault("division by 0")
    return a % b if not np.any(np.less(a, 0)) else a - divided(a, b) * b


def both(a, b):
    """Masks: True, False, or an array of which some are true."""
    if a is True:
        return b
    if b is True:
        return a
    if a is False or b is False:
        return False
    return settled(a & b)


def either(a, b):
    if a is True or b is True:
        return True
    if a is False:
        return b
    if b is False:
        return a
    found = a | b
    return True if count_nonzero(found) == found.size else found


def without(a, b):
    """Lanes of a that are not in b."""
    if b is True or a is False:
        return False
    if b is False:
        return a
    return settled(~b if a is True else a & ~b)


def settled(mask):
    return mask if count_nonzero(mask) else False


def truth(value):
    """A condition as a mask, not limited to active lanes."""
    if value.__class__ is np.ndarray:
        found = value if value.dtype.kind == "b" else value != 0
        count = count_nonzero(found)
        if not count:
            return False
        return True if count == found.size else found
    if value.__class__ is Pointer:
        return True
    return bool(value)
