#include "warpsim/ptx/wmma.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "warpsim/ptx/modifiers.h"

namespace warpsim::ptx {

namespace {

bool is_wmma(Opcode op) {
  return op == Opcode::kWmmaLoad || op == Opcode::kWmmaStore || op == Opcode::kWmmaMma;
}

// Which matrix a load or store moves: a, b, c or d, behind "wmma.load." or "wmma.store.".
char matrix_of(const Instruction& i) {
  return i.mnemonic[i.op == Opcode::kWmmaLoad ? 10 : 11];
}

// Lines are rows of A and columns of B; of C they are rows, unless the product is computed as its
// transposed.
bool is_turned(const Tile& tile) {
  return tile.m == 8 && tile.n == 32;
}
int lines_of(char matrix, const Tile& tile) {
  return matrix == 'a' ? tile.m : matrix == 'b' || is_turned(tile) ? tile.n : tile.m;
}

bool is_byte(Type type) {
  return type == Type::kS8 || type == Type::kU8;
}

size_t registers_of(char matrix, Type type, const Tile& tile) {
  if (type == Type::kF64) return matrix == 'c' || matrix == 'd' ? 2 : 1;
  if (matrix == 'c' || matrix == 'd') return type == Type::kF16 ? 4 : 8;
  if (is_byte(type)) return size_t(lines_of(matrix, tile) / 8);
  if (type == Type::kF16) return 8;
  return type == Type::kTF32 ? 4 : size_t(lines_of(matrix, tile) / 4);
}

// The top left corner of a block, or of the numbers of a register: its line, and its place there.
struct Corner {
  int line, place;
};

// In the order of the registers.
std::vector<Corner> blocks_of(char matrix, Type type, const Tile& tile) {
  const int lines = lines_of(matrix, tile), width = type == Type::kTF32 ? 4 : 8;
  std::vector<Corner> blocks;
  if (type == Type::kF64) return {{0, 0}};
  if (matrix == 'c' || matrix == 'd') {
    if (lines == 32) return {{0, 0}, {8, 0}, {16, 0}, {24, 0}};
    return {{0, 0}, {8, 0}, {0, 8}, {8, 8}};
  }
  if (is_byte(type)) {
    for (int line = 0; line < lines; line += 8) blocks.push_back({line, 0});
    return blocks;
  }
  // The first factor of an m16n8: two blocks of lines, then two along k; the second: along k.
  const bool is_first = matrix == (is_turned(tile) ? 'b' : 'a');
  for (int line = 0; line < lines; line += is_first ? 16 : 8) {
    for (int place = 0; place < 2 * width; place += width) {
      blocks.push_back({line, place});
      if (is_first) blocks.push_back({line + 8, place});
    }
  }
  return blocks;
}

Operand of_register(int32_t reg) {
  Operand operand;
  operand.kind = Operand::Kind::kRegister;
  operand.reg = reg;
  return operand;
}
Operand number(int64_t value) {
  Operand operand;
  operand.kind = Operand::Kind::kImmediate;
  operand.imm = uint64_t(value);
  return operand;
}
Operand vector_of(std::vector<Operand> elements) {
  Operand operand;
  operand.kind = Operand::Kind::kVector;
  operand.elements = std::move(elements);
  return operand;
}

// The instructions that stand for one. `read`: registers that others than wmma.mma read.
class Expansion {
 public:
  Expansion(Function* function, const Instruction& from, const std::vector<bool>& read)
      : function_(*function), from_(from), read_(read) {}

  std::vector<Instruction> run() {
    if (from_.op == Opcode::kWmmaMma)
      multiply();
    else
      move();
    return std::move(code_);
  }

 private:
  Instruction& add(std::string mnemonic, std::vector<Operand> dst, std::vector<Operand> src) {
    Instruction i;
    i.mnemonic = std::move(mnemonic);
    decode_mnemonic(*find_opcode(i.mnemonic), &i);
    i.dst = std::move(dst), i.src = std::move(src);
    i.guard = from_.guard, i.guard_negated = from_.guard_negated;
    i.where = from_.where, i.ptx_line = from_.ptx_line, i.by_algorithm = from_.by_algorithm;
    return code_.emplace_back(std::move(i));
  }
  bool is_double() const { return from_.type == Type::kF64; }
  const char* word() const { return is_double() ? ".b64" : ".b32"; }
  Operand fresh(Type type) {
    function_.registers.push_back({"%wmma" + std::to_string(function_.registers.size()), type});
    return of_register(int32_t(function_.registers.size() - 1));
  }
  // A 32-bit register with the result.
  Operand compute(std::string mnemonic, std::vector<Operand> src) {
    const Operand to = fresh(Type::kB32);
    add(std::move(mnemonic), {to}, std::move(src));
    return to;
  }

  // --- load and store

  struct Lane {
    Operand group, within;  // lane / 4, lane % 4
  };

  void move() {
    is_load_ = from_.op == Opcode::kWmmaLoad;
    matrix_ = matrix_of(from_);
    bytes_ = int(size_bytes(from_.type));
    const Operand& vector = is_load_ ? from_.dst[0] : from_.src[1];
    const bool by_rows = from_.mnemonic.find(".row") != std::string::npos;
    const bool rows_are_lines = matrix_ == 'a' || (matrix_ != 'b' && !is_turned(from_.tile));
    along_ = by_rows == rows_are_lines;
    find_base();
    find_stride(by_rows);
    lane_ = compute("mov.u32", {special(Special::kLaneid)});
    code_.front().of_whole_warp = true;
    const std::vector<Corner> blocks = blocks_of(matrix_, from_.type, from_.tile);
    const bool is_sum = matrix_ == 'c' || matrix_ == 'd';
    if (bytes_ == 2 && !is_sum && from_.space == Space::kShared)
      load_matrices(vector, blocks);
    else if (bytes_ == 2)
      move_halves(vector, blocks);
    else if (is_sum)
      move_sums(vector, blocks);
    else if (bytes_ == 1)
      load_bytes(vector, blocks);
    else
      load_numbers(vector, blocks);
    if (is_load_ && !is_sum) repeat(vector, blocks.size());
  }

  // Registers that no product needs hold the first ones again.
  void repeat(const Operand& vector, size_t blocks) {
    for (size_t i = blocks; i < vector.elements.size(); ++i) {
      const Operand& to = vector.elements[i];
      if (to.reg >= 0 && read_[size_t(to.reg)]) add("mov.b32", {to}, {vector.elements[i % blocks]});
    }
  }

  static Operand special(Special which) {
    Operand operand;
    operand.kind = Operand::Kind::kSpecial;
    operand.special = which;
    return operand;
  }

  // A register that holds the address, without its offset.
  void find_base() {
    const Operand& address = from_.src[0];
    offset_ = address.offset;
    if (address.reg >= 0) {
      base_ = of_register(address.reg);
      is_wide_ = size_bytes(function_.registers[size_t(address.reg)].type) == 8;
      return;
    }
    is_wide_ = from_.space != Space::kShared;
    Operand value = number(int64_t(address.imm));
    if (address.symbol >= 0) {
      value = address;
      value.kind = Operand::Kind::kSymbol;
      value.offset = 0;
    }
    base_ = fresh(is_wide_ ? Type::kB64 : Type::kB32);
    add(is_wide_ ? "mov.u64" : "mov.u32", {base_}, {value});
  }

  // Bytes from one row (or column) to the next.
  void find_stride(bool by_rows) {
    const size_t at = is_load_ ? 1 : 2;
    const Tile& t = from_.tile;
    const int rows = matrix_ == 'b' ? t.k : t.m, columns = matrix_ == 'a' ? t.k : t.n;
    if (from_.src.size() <= at)
      stride_ = number(int64_t{by_rows ? columns : rows} * bytes_);
    else if (from_.src[at].kind == Operand::Kind::kImmediate)
      stride_ = number(int64_t(from_.src[at].imm) * bytes_);
    else
      stride_ = compute("shl.b32", {from_.src[at], number(std::countr_zero(unsigned(bytes_)))});
  }

  Operand multiply_add(const Operand& a, const Operand& b, const Operand& c) {
    const Operand to = fresh(is_wide_ ? Type::kB64 : Type::kB32);
    add(is_wide_ ? "mad.wide.u32" : "mad.lo.u32", {to}, {a, b, c});
    return to;
  }

  // The lane's own address: where the line of memory `line` and the number `place` are.
  void find_start(const Operand& line, const Operand& place) {
    starts_.clear();
    starts_[0] = multiply_add(place, number(bytes_), multiply_add(line, stride_, base_));
  }

  // The same, so many lines and numbers further on.
  Operand address(int line, int place) {
    Operand at;
    int64_t offset = offset_ + int64_t{place} * bytes_;
    if (stride_.kind == Operand::Kind::kImmediate) {
      offset += line * int64_t(stride_.imm);
      line = 0;
    }
    auto known = starts_.find(line);
    if (known == starts_.end())
      known = starts_.emplace(line, multiply_add(stride_, number(line), starts_.at(0))).first;
    at.kind = Operand::Kind::kAddress;
    at.reg = known->second.reg;
    at.offset = offset;
    return at;
  }
  // Of a block: lines are rows of memory or not.
  Operand address_of(Corner at) {
    return along_ ? address(at.line, at.place) : address(at.place, at.line);
  }

  Lane quarter() {
    return {compute("shr.u32", {lane_, number(2)}), compute("and.b32", {lane_, number(3)})};
  }

  std::string access(const char* kind) const {
    std::string text = is_load_ ? "ld" : "st";
    if (from_.space == Space::kShared) text += ".shared";
    if (from_.space == Space::kGlobal) text += ".global";
    return text + kind;
  }
  void transfer(const char* kind, const Operand& at, const Operand& value) {
    if (is_load_)
      add(access(kind), {value}, {at});
    else
      add(access(kind), {}, {at, value});
  }

  // Two numbers of 16 bits that lie next to each other.
  void move_halves(const Operand& vector, const std::vector<Corner>& blocks) {
    const Lane q = quarter();
    find_start(q.group, compute("shl.b32", {q.within, number(1)}));
    for (size_t i = 0; i < blocks.size(); ++i) {
      const Operand& value = vector.elements[i];
      Operand moved = value;
      const char* turn = "movmatrix.sync.aligned.m8n8.trans.b16";
      if (!along_ && !is_load_) moved = compute(turn, {value});
      if (!along_ && is_load_) moved = fresh(Type::kB32);
      transfer(".b32", address_of(blocks[i]), moved);
      if (!along_ && is_load_) add(turn, {value}, {moved});
    }
  }

  // Pairs along a line; where those lie in different lines of memory, one by one.
  void move_sums(const Operand& vector, const std::vector<Corner>& blocks) {
    const Lane q = quarter();
    const Operand pair = compute("shl.b32", {q.within, number(1)});
    find_start(along_ ? q.group : pair, along_ ? pair : q.group);
    for (size_t i = 0; i < blocks.size(); ++i) {
      const Operand &first = vector.elements[2 * i], &second = vector.elements[2 * i + 1];
      if (along_) {
        transfer(is_double() ? ".v2.b64" : ".v2.b32", address_of(blocks[i]),
                 vector_of({first, second}));
      } else {
        transfer(word(), address_of(blocks[i]), first);
        transfer(word(), address_of({blocks[i].line, blocks[i].place + 1}), second);
      }
    }
  }

  // One number in each register.
  void load_numbers(const Operand& vector, const std::vector<Corner>& blocks) {
    const Lane q = quarter();
    find_start(along_ ? q.group : q.within, along_ ? q.within : q.group);
    for (size_t i = 0; i < blocks.size(); ++i)
      transfer(word(), address_of(blocks[i]), vector.elements[i]);
  }

  // Four numbers of a line in each register.
  void load_bytes(const Operand& vector, const std::vector<Corner>& blocks) {
    const Lane q = quarter();
    const Operand first = compute("shl.b32", {q.within, number(2)});
    find_start(along_ ? q.group : first, along_ ? first : q.group);
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (along_) {
        transfer(".b32", address_of(blocks[i]), vector.elements[i]);
        continue;
      }
      Operand all;
      for (int e = 0; e < 4; ++e) {
        const Operand one = fresh(Type::kB32);
        transfer(".u8", address_of({blocks[i].line, blocks[i].place + e}), one);
        if (e == 0) {
          all = one;
          continue;
        }
        const Operand joined = e == 3 ? vector.elements[i] : fresh(Type::kB32);
        add("bfi.b32", {joined}, {one, all, number(8 * e), number(8)});
        all = joined;
      }
    }
  }

  // Four blocks, or two, at once: lane 8 * i + r names line r of block i of memory.
  void load_matrices(const Operand& vector, const std::vector<Corner>& blocks) {
    const size_t together = std::min<size_t>(4, blocks.size());
    const Operand row = compute("and.b32", {lane_, number(7)});
    auto eight_times_bit = [&](int bit) {
      const Operand shifted = compute("shr.u32", {lane_, number(bit)});
      return compute("shl.b32", {compute("and.b32", {shifted, number(1)}), number(3)});
    };
    // Which bit of the block's number says that it is the second along a line.
    const int place_bit = blocks[1].place != 0 ? 3 : 4;
    Operand line = row, place = eight_times_bit(place_bit);
    if (together == 4) {
      const Operand lower = eight_times_bit(place_bit == 3 ? 4 : 3);
      if (along_)
        line = compute("add.u32", {row, lower});
      else
        std::swap(place, line), line = compute("add.u32", {line, row}), place = lower;
    } else if (!along_) {
      line = compute("add.u32", {row, place}), place = number(0);
    }
    find_start(line, place);
    for (size_t i = 0; i < blocks.size(); i += together) {
      std::vector<Operand> to(vector.elements.begin() + long(i),
                              vector.elements.begin() + long(i + together));
      const std::string name = "ldmatrix.sync.aligned.m8n8.x" + std::to_string(together) +
                               (along_ ? "" : ".trans") + ".shared.b16";
      add(name, {vector_of(std::move(to))}, {address_of({blocks[i].line, 0})});
    }
  }

  // --- mma

  static Operand part(const Operand& vector, size_t first, size_t count) {
    const auto begin = vector.elements.begin() + long(first);
    return vector_of({begin, begin + long(count)});
  }

  void multiply() {
    if (is_double()) {
      add("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", {from_.dst[0]}, from_.src);
      return;
    }
    const bool is_tf32 = from_.src_type == Type::kTF32, with_bytes = is_byte(from_.src_type),
               turned = is_turned(from_.tile);
    const Operand &a = from_.src[turned ? 1 : 0], &b = from_.src[turned ? 0 : 1];
    const Operand& c = from_.src[2];
    const Operand d = free_of_sources();
    const char* sum = with_bytes ? "s32" : from_.type == Type::kF32 ? "f32" : "f16";
    const char* factor = with_bytes                     ? from_.src_type == Type::kS8 ? "s8" : "u8"
                         : is_tf32                      ? "tf32"
                         : from_.src_type == Type::kF16 ? "f16"
                                                        : "bf16";
    const std::string name = std::string("mma.sync.aligned.m16n8k") + (is_tf32 ? "4" : "16") +
                             ".row.col." + sum + "." + factor + "." + factor + "." + sum;
    const size_t sums = d.elements.size() / 2, registers = is_tf32 || with_bytes ? 1 : 2;
    const bool two_of_b = from_.tile.n == 16;
    for (size_t t = 0; t < 2; ++t) {
      const Operand to = part(d, sums * t, sums);
      for (size_t step = 0; step < (is_tf32 ? 2u : 1u); ++step) {
        const size_t before = with_bytes ? 1 : 2;  // registers of the half before
        const Operand second = part(b, (two_of_b ? before * t : 0) + step, registers);
        const Operand first = part(a, two_of_b ? 2 * step : 2 * before * t, 2 * registers);
        add(name, {to}, {first, second, step == 0 ? part(c, sums * t, sums) : to});
      }
    }
    for (size_t i = 0; i < d.elements.size(); ++i) {
      if (d.elements[i].reg != from_.dst[0].elements[i].reg)
        add("mov.b32", {from_.dst[0].elements[i]}, {d.elements[i]});
    }
  }

  // D; in registers of its own where the first half of it would overwrite what the second reads.
  Operand free_of_sources() {
    Operand d = from_.dst[0];
    auto reads = [&](const Operand& vector, int32_t reg, size_t but) {
      for (size_t i = 0; i < vector.elements.size(); ++i)
        if (vector.elements[i].reg == reg && i != but) return true;
      return false;
    };
    for (size_t i = 0; i < d.elements.size(); ++i) {
      const int32_t reg = d.elements[i].reg;
      if (!reads(from_.src[0], reg, SIZE_MAX) && !reads(from_.src[1], reg, SIZE_MAX) &&
          !reads(from_.src[2], reg, i))
        continue;
      for (Operand& element : d.elements) element = fresh(Type::kB32);
      break;
    }
    return d;
  }

  Function& function_;
  const Instruction& from_;
  const std::vector<bool>& read_;
  std::vector<Instruction> code_;
  bool is_load_ = false, is_wide_ = false;
  bool along_ = false;  // numbers of a line lie next to each other in memory
  char matrix_ = 0;
  int bytes_ = 0;  // of a number
  int64_t offset_ = 0;
  Operand base_, stride_, lane_;
  std::map<int, Operand> starts_;  // by lines of memory further on
};

void expand(Function* function) {
  std::vector<Instruction> before = std::move(function->code);
  std::vector<int32_t> moved(before.size() + 1);
  std::vector<bool> read(function->registers.size());
  for (const Instruction& i : before) {
    if (i.op == Opcode::kWmmaMma) continue;
    for (const Operand& source : i.src) {
      if (source.reg >= 0) read[size_t(source.reg)] = true;
      for (const Operand& element : source.elements)
        if (element.reg >= 0) read[size_t(element.reg)] = true;
    }
  }
  std::vector<Instruction> code;
  for (size_t i = 0; i < before.size(); ++i) {
    moved[i] = int32_t(code.size());
    if (!is_wmma(before[i].op)) {
      code.push_back(std::move(before[i]));
      continue;
    }
    for (Instruction& one : Expansion(function, before[i], read).run())
      code.push_back(std::move(one));
  }
  moved.back() = int32_t(code.size());
  for (Instruction& i : code) {
    for (Operand& source : i.src)
      if (source.kind == Operand::Kind::kLabel) source.target = moved[size_t(source.target)];
  }
  function->code = std::move(code);
}

constexpr Tile kDoubles = {8, 8, 4};

bool is_shape(const Tile& tile, bool is_tf32) {
  const Tile halves[] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}}, tf32 = {16, 16, 8};
  return is_tf32 ? tile == tf32 : std::ranges::find(halves, tile) != std::end(halves);
}

}  // namespace

bool is_modelled_wmma(const Instruction& i) {
  using enum Type;
  const bool is_double = i.type == kF64;
  if (i.rounding != Rounding::kNone && !(is_double && i.rounding == Rounding::kRn)) return false;
  if (i.op == Opcode::kWmmaMma) {
    if (is_double) return i.src_type == kF64 && i.tile == kDoubles;
    if (is_byte(i.src_type)) return i.type == kS32 && is_shape(i.tile, false);
    const bool with_halves = i.type == kF16 && i.src_type == kF16;
    return (with_halves || i.type == kF32) && is_shape(i.tile, i.src_type == kTF32) &&
           (i.src_type == kF16 || i.src_type == kBF16 || i.src_type == kTF32);
  }
  if (i.space != Space::kGeneric && i.space != Space::kShared && i.space != Space::kGlobal)
    return false;
  if (is_double) return i.tile == kDoubles;
  const char matrix = matrix_of(i);
  if (matrix == 'c' || matrix == 'd')
    return (i.type == kF32 && is_shape(i.tile, true)) ||
           ((i.type == kF32 || i.type == kF16 || i.type == kS32) && is_shape(i.tile, false));
  if (is_byte(i.type)) return is_shape(i.tile, false);
  if (i.type != kF16 && i.type != kBF16 && i.type != kTF32) return false;
  return is_shape(i.tile, i.type == kTF32);
}

size_t wmma_registers(const Instruction& i, size_t place) {
  if (i.op != Opcode::kWmmaMma) return registers_of(matrix_of(i), i.type, i.tile);
  if (place == 1 || place == 2) return registers_of(place == 1 ? 'a' : 'b', i.src_type, i.tile);
  return registers_of('c', i.type, i.tile);
}

void expand_wmma(Module* module) {
  for (Function& function : module->functions) {
    const bool any =
        std::ranges::any_of(function.code, [](const Instruction& i) { return is_wmma(i.op); });
    if (any) expand(&function);
  }
}

}  // namespace warpsim::ptx
