#include "warpsim/ptx/modifiers.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "warpsim/ptx/fragment.h"
#include "warpsim/ptx/spelling.h"
#include "warpsim/ptx/wmma.h"

namespace warpsim::ptx {

namespace {

// True, with *field set, if `word` is one of `words` and the row has the family.
template <typename Value>
bool take_word(const OpcodeRow& row, uint32_t family, std::span<const Word<Value>> words,
               std::string_view word, Value* field) {
  if (!(row.modifiers & family)) return false;
  auto value = read_word(words, word);
  if (value) *field = *value;
  return value.has_value();
}

bool take_flag(const OpcodeRow& row, uint32_t family, std::string_view flag, std::string_view word,
               bool* field) {
  if (!(row.modifiers & family) || word != flag) return false;
  *field = true;
  return true;
}

// Memory order, scope, cache hints: only `volatile` and its stronger kin and .nc matter to us, and
// which way a cp.async goes.
bool take_memory(std::string_view word, Instruction* i) {
  constexpr std::string_view kStrong[] = {"volatile", "relaxed", "acquire", "release",
                                          "acq_rel",  "sc",      "mmio"};
  constexpr std::string_view kNoEffect[] = {"weak", "cta", "cluster", "gpu", "sys",
                                            "gl",   "ca",  "cg",      "cs",  "lu",
                                            "cv",   "wb",  "wt",      "L1",  "L2"};
  if (std::ranges::find(kStrong, word) != std::end(kStrong)) {
    i->is_volatile = true;
    return true;
  }
  if (word == "nc") {
    i->non_coherent = true;
    return true;
  }
  if (word == "cg" && i->op == Opcode::kCpAsync) i->past_l1 = true;
  if (word == "L2::cache_hint") return false;  // brings one operand more
  return word.starts_with("L1::") || word.starts_with("L2::") ||
         std::ranges::find(kNoEffect, word) != std::end(kNoEffect);
}

bool take_shift(std::string_view word, Instruction* i) {
  auto combine = [&](ShiftMode left, ShiftMode right, ShiftMode alone) {
    i->shift = i->shift == ShiftMode::kLeft ? left : i->shift == ShiftMode::kRight ? right : alone;
    return true;
  };
  if (word == "l")
    i->shift = ShiftMode::kLeft;
  else if (word == "r")
    i->shift = ShiftMode::kRight;
  else if (word == "clamp")
    return combine(ShiftMode::kLeftClamp, ShiftMode::kRightClamp, ShiftMode::kClamp);
  else if (word == "wrap")
    return combine(ShiftMode::kLeftWrap, ShiftMode::kRightWrap, ShiftMode::kWrap);
  else
    return false;
  return true;
}

bool take_vector(std::string_view word, Instruction* i) {
  if (word != "v2" && word != "v4" && word != "v8") return false;
  i->vector_width = static_cast<uint8_t>(word[1] - '0');
  return true;
}

bool take_space(const OpcodeRow& row, std::string_view word, Instruction* i) {
  Space before = i->space;
  // Of a cluster of one block, which is what there is: the block's own shared memory.
  const bool may_be_of_cluster = row.op == Opcode::kMbarrier || row.op == Opcode::kMbarrierWait ||
                                 row.op == Opcode::kProxyFence;
  if (may_be_of_cluster && word == "shared::cluster" && before == Space::kGeneric) {
    i->space = Space::kShared;
    return true;
  }
  if (!take_word(row, kModSpace, space_words(), word, &i->space)) return false;
  if (row.op == Opcode::kCpAsync) {  // always shared <- global
    bool good = before == Space::kGeneric ? i->space == Space::kShared : i->space == Space::kGlobal;
    i->space = Space::kShared;
    return good;
  }
  return before == Space::kGeneric;
}

bool take_sync(const OpcodeRow& row, std::string_view word, Instruction* i) {
  if (!(row.modifiers & kModSync)) return false;
  if (word == "aligned") i->aligned = true;
  return word == "aligned" || (word == "sync" && row.op != Opcode::kBar);
}

// .m16n8k16; .row and .col are looked at together, in is_modelled.
bool take_tile(std::string_view word, Instruction* i) {
  if (word == "row" || word == "col") return true;
  auto number = [&](char letter, uint8_t* field) {
    if (word.empty() || word[0] != letter) return false;
    word.remove_prefix(1);
    uint32_t value = 0;
    const auto end = std::from_chars(word.data(), word.data() + word.size(), value);
    if (end.ec != std::errc() || value > 255) return false;
    word.remove_prefix(size_t(end.ptr - word.data()));
    *field = uint8_t(value);
    return true;
  };
  return number('m', &i->tile.m) && number('n', &i->tile.n) && number('k', &i->tile.k) &&
         word.empty();
}

// What a hint is about changes no value.
bool take_hint(std::string_view word) {
  constexpr std::string_view kWords[] = {"launch_dependents", "wait", "inc", "dec", "mask", "L2",
                                         "evict_normal"};
  return std::ranges::find(kWords, word) != std::end(kWords);
}

// The spaces, destination first; a hint about the cache brings an operand, which changes nothing.
bool take_bulk(std::string_view word, Instruction* i) {
  if (word.size() == 2 && word[1] == 'd' && word[0] >= '1' && word[0] <= '5') {
    i->dimensions = uint8_t(word[0] - '0');
    return true;
  }
  const bool is_shared = word == "shared::cluster" || word == "shared::cta";
  if (is_shared || word == "global") {
    if (i->space == Space::kGeneric) {
      i->space = is_shared ? Space::kShared : Space::kGlobal;
      return true;
    }
    return is_shared == (i->space == Space::kGlobal);
  }
  return word == "mbarrier::complete_tx::bytes" || word == "bulk_group" || word == "tile" ||
         word == "L2::cache_hint" || (word == "L2" && i->op == Opcode::kHint);
}

bool take_limit(std::string_view word, Instruction* i) {
  if (word != "clamp" && word != "wrap") return false;
  i->limit = word == "clamp" ? LimitMode::kClamp : LimitMode::kWrap;
  return true;
}

bool take_texture(const OpcodeRow& row, std::string_view word, Instruction* i) {
  switch (row.op) {
    case Opcode::kTexQuery:
      return take_word(row, kModTexture, query_words(), word, &i->query);
    case Opcode::kSuld:
    case Opcode::kSust:
      if (take_word(row, kModTexture, edge_words(), word, &i->edge)) return true;
      [[fallthrough]];
    default:
      return take_word(row, kModTexture, geometry_words(), word, &i->geometry);
  }
}

bool take_matrix(std::string_view word, Instruction* i) {
  if (word == "trans") return i->transposed = true;
  if (word == "x1" || word == "x2" || word == "x4") i->matrices = uint8_t(word[1] - '0');
  return word == "m8n8" || word == "x1" || word == "x2" || word == "x4";
}

bool take_modifier(const OpcodeRow& row, std::string_view word, Instruction* i) {
  return take_word(row, kModRounding, rounding_words(), word, &i->rounding) ||
         take_word(row, kModPart, part_words(), word, &i->part) ||
         take_word(row, kModCompare, compare_words(), word, &i->cmp) ||
         take_word(row, kModBool, bool_words(), word, &i->bool_op) ||
         take_word(row, kModAtom, atom_words(), word, &i->atom) ||
         take_word(row, kModShuffle, shuffle_words(), word, &i->shfl) ||
         take_word(row, kModVote, vote_words(), word, &i->vote) ||
         take_word(row, kModPrmt, prmt_words(), word, &i->prmt) ||
         take_word(row, kModTestp, testp_words(), word, &i->testp) ||
         take_word(row, kModBarRed, bar_red_words(), word, &i->bar) || take_space(row, word, i) ||
         take_flag(row, kModFtz, "ftz", word, &i->ftz) ||
         take_flag(row, kModSat, "sat", word, &i->sat) ||
         take_flag(row, kModApprox, "approx", word, &i->approx) ||
         take_flag(row, kModApprox, "full", word, &i->full) ||
         take_flag(row, kModCarry, "cc", word, &i->carry_out) ||
         take_flag(row, kModUni, "uni", word, &i->uni) ||
         take_flag(row, kModTo, "to", word, &i->to_space) ||
         take_flag(row, kModNan, "NaN", word, &i->nan) ||
         take_flag(row, kModAmount, "shiftamt", word, &i->shift_amount) ||
         take_flag(row, kModRelu, "relu", word, &i->relu) ||
         take_flag(row, kModXorsign, "xorsign", word, &i->xorsign) ||
         take_flag(row, kModSum, "add", word, &i->accumulate) ||
         (row.op == Opcode::kCvt && word == "satfinite" && (i->sat_finite = true)) ||
         ((row.modifiers & kModXorsign) && word == "abs" && i->xorsign) ||
         ((row.modifiers & kModLimit) && take_limit(word, i)) ||
         ((row.modifiers & kModBulk) && take_bulk(word, i)) ||
         ((row.modifiers & kModHint) && take_hint(word)) || take_sync(row, word, i) ||
         ((row.modifiers & kModVector) && take_vector(word, i)) ||
         ((row.modifiers & kModShift) && take_shift(word, i)) ||
         ((row.modifiers & kModMemory) && take_memory(word, i)) ||
         ((row.modifiers & kModTile) && take_tile(word, i)) ||
         ((row.modifiers & kModMatrix) && take_matrix(word, i)) ||
         ((row.modifiers & kModTexture) && take_texture(row, word, i)) ||
         ((row.modifiers & kModAtom) && word == "noftz");
}

uint32_t class_of(Type type) {
  switch (type) {
    case Type::kPred:
      return kTakesPred;
    case Type::kB8:
    case Type::kU8:
    case Type::kS8:
      return kTakesByte;
    case Type::kB16:
    case Type::kB32:
    case Type::kB64:
      return kTakesBits;
    case Type::kF32:
    case Type::kF64:
      return kTakesFloat;
    case Type::kU16x2:
    case Type::kS16x2:
      return kTakesPair;
    case Type::kE4M3x2:
    case Type::kE5M2x2:
      return kTakesBytes;
    case Type::kNone:
    case Type::kB128:
      return 0;
    default:
      return is_float(type) ? kTakesHalf : kTakesInt;
  }
}

void set_mbarrier_mode(std::string_view row, Instruction* i) {
  constexpr std::pair<std::string_view, MbarrierOp> kModes[] = {
      {"mbarrier.init", MbarrierOp::kInit},
      {"mbarrier.inval", MbarrierOp::kInval},
      {"mbarrier.arrive_drop", MbarrierOp::kDrop},
      {"mbarrier.arrive", MbarrierOp::kArrive},
      {"mbarrier.expect_tx", MbarrierOp::kExpectBytes},
      {"mbarrier.complete_tx", MbarrierOp::kCompleteBytes},
      {"mbarrier.test_wait", MbarrierOp::kTestWait},
      {"mbarrier.try_wait", MbarrierOp::kTryWait}};
  for (const auto& [name, mode] : kModes) {
    if (!row.starts_with(name)) continue;
    i->mbarrier = mode;
    break;
  }
  i->parity = row.ends_with(".parity");
  i->no_complete = row.ends_with(".noComplete");
  i->expects = row.ends_with(".expect_tx") && i->mbarrier != MbarrierOp::kExpectBytes;
  i->no_increment = row.ends_with(".noinc");
}

void set_texture_mode(std::string_view row, Instruction* i) {
  constexpr std::pair<std::string_view, TexMode> kModes[] = {
      {"tex.level", TexMode::kLevel}, {"tex.grad", TexMode::kGrad},  {"tld4.r", TexMode::kGatherR},
      {"tld4.g", TexMode::kGatherG},  {"tld4.b", TexMode::kGatherB}, {"tld4.a", TexMode::kGatherA}};
  for (const auto& [name, mode] : kModes) {
    if (row == name) i->tex = mode;
  }
}

// The parts of the row's name that are modes rather than names: bar.SYNC, match.ALL.
void set_mode_of_row(const OpcodeRow& row, Instruction* i) {
  if (row.op == Opcode::kBar && row.name.ends_with(".sync")) i->bar = BarMode::kSync;
  if (row.op == Opcode::kBar && row.name.ends_with(".arrive")) i->bar = BarMode::kArrive;
  i->match_all = row.name == "match.all";
  set_mbarrier_mode(row.name, i);
  set_texture_mode(row.name, i);
  // bar is barrier.aligned; barrier without .aligned is not.
  i->aligned = !row.name.starts_with("barrier");
}

// The result has four words, by coordinates that are floats or, of some, elements.
bool is_modelled_texture(const Instruction& i) {
  if (i.op == Opcode::kTexQuery) return i.type == Type::kB32 && i.query != TexQuery::kNone;
  if (i.geometry == Geometry::kNone) return false;
  if (i.op == Opcode::kSuld || i.op == Opcode::kSust) {
    return i.edge != SurfaceEdge::kNone && i.geometry < Geometry::kCube &&
           size_bytes(i.type) * i.vector_width <= 16;
  }
  auto is_word = [](Type t) { return t == Type::kF32 || t == Type::kU32 || t == Type::kS32; };
  const bool gathers = i.tex >= TexMode::kGatherR;
  if (i.vector_width != 4 || !is_word(i.type)) return false;
  if (gathers && i.geometry != Geometry::k2d && i.geometry != Geometry::k2dLayered) return false;
  const bool is_cube = i.geometry == Geometry::kCube || i.geometry == Geometry::kCubeLayered;
  return i.src_type == Type::kF32 || (i.src_type == Type::kS32 && !gathers && !is_cube);
}

// Whether this form of an instruction is one that we know.
bool is_modelled(const OpcodeRow& row, const Instruction& i) {
  if (row.op == Opcode::kWmmaLoad || row.op == Opcode::kWmmaStore || row.op == Opcode::kWmmaMma)
    return is_modelled_wmma(i);
  if (row.op == Opcode::kMovmatrix) return i.transposed && i.matrices == 0 && i.type == Type::kB16;
  if (row.op == Opcode::kMma)
    return fragment_registers(i) && i.mnemonic.find(".row.col.") != std::string::npos;
  if (row.op == Opcode::kBulkCopy)
    return i.space != Space::kGeneric && row.name.ends_with(".tensor") == (i.dimensions != 0);
  if (row.modifiers & kModTexture) return is_modelled_texture(i);
  const bool is_mbarrier = row.op == Opcode::kMbarrier || row.op == Opcode::kMbarrierWait ||
                           row.op == Opcode::kMbarrierPending || row.op == Opcode::kCopiesArrive;
  if (is_mbarrier) {
    return i.type == Type::kB64 && (i.space == Space::kShared || i.space == Space::kGeneric);
  }
  if (row.modifiers & kModMatrix)
    return i.matrices != 0 && i.type == Type::kB16 && i.space == Space::kShared;
  return true;
}

// What no instruction of this opcode can lack or have.
std::string check_fields(const OpcodeRow& row, const Instruction& i) {
  std::string name(row.name);
  if ((row.modifiers & kModCompare) && i.cmp == CmpOp::kNone)
    return name + " needs a comparison such as .lt";
  if ((row.modifiers & kModAtom) && i.atom == AtomOp::kNone)
    return name + " needs an operation such as .add";
  if ((row.modifiers & kModShuffle) && i.shfl == ShflMode::kNone)
    return name + " needs a mode such as .down";
  if ((row.modifiers & kModVote) && i.vote == VoteMode::kNone)
    return name + " needs a mode such as .any";
  if ((row.modifiers & kModTestp) && i.testp == TestpOp::kNone)
    return name + " needs a test such as .finite";
  if ((row.modifiers & kModBarRed) && i.bar == BarMode::kNone)
    return name + " needs an operation such as .popc";
  if ((row.modifiers & kModShift) && i.shift < ShiftMode::kLeftClamp)
    return name + " needs .l or .r and .clamp or .wrap";
  if ((row.modifiers & kModLimit) && i.limit == LimitMode::kNone)
    return name + " needs .clamp or .wrap";
  if ((row.op == Opcode::kIsspacep || row.op == Opcode::kCvta) && i.space == Space::kGeneric) {
    return name + " needs a state space such as .global";
  }
  bool integer = row.types & kTakesInt && !is_float(i.type);
  bool needs_part = row.op == Opcode::kMul || row.op == Opcode::kMad || row.op == Opcode::kMul24 ||
                    row.op == Opcode::kMad24;
  if (integer && needs_part && i.part == MulPart::kNone)
    return name + " of integers needs .lo, .hi or .wide";
  if (i.part == MulPart::kWide && size_bytes(i.type) > 4) return name + ".wide takes 16 or 32 bits";
  return {};
}

}  // namespace

std::string decode_mnemonic(const OpcodeRow& row, Instruction* i) {
  i->op = row.op;
  set_mode_of_row(row, i);
  if (row.shape == "*") return {};
  std::string_view rest = std::string_view(i->mnemonic).substr(row.name.size());
  int types = 0;
  while (!rest.empty()) {
    size_t end = std::min(rest.find('.', 1), rest.size());
    std::string_view word = rest.substr(1, end - 1);
    rest.remove_prefix(end);
    if (auto type = read_word(type_words(), word)) {
      // mma has four: D and C are of one type here, and so are A and B.
      const bool is_first = types == 0 || types == 3;
      if (types >= 2 && *type != (is_first ? i->type : i->src_type)) i->op = Opcode::kUnknown;
      (is_first ? i->type : i->src_type) = *type;
      if (++types > row.type_count || *type == Type::kB128)
        i->op = Opcode::kUnknown;
      else if (!(class_of(*type) & row.types))
        return std::string(row.name) + " does not take the type ." + std::string(word);
    } else if (!take_modifier(row, word, i)) {
      i->op = Opcode::kUnknown;
    }
  }
  // Of f16 factors wmma.mma names only the types of the sums.
  if (row.op == Opcode::kWmmaMma && types == 2) {
    if (i->src_type != i->type) i->op = Opcode::kUnknown;
    i->src_type = Type::kF16;
    types = row.type_count;
  }
  if (i->op != Opcode::kUnknown && types == row.type_count && !is_modelled(row, *i))
    i->op = Opcode::kUnknown;
  if (i->op == Opcode::kUnknown) {  // half decoded fields would only mislead
    Instruction unknown;
    unknown.mnemonic = i->mnemonic;
    *i = unknown;
    return {};
  }
  if (types < row.type_count) return "'" + i->mnemonic + "' lacks a type such as .u32";
  return check_fields(row, *i);
}

}  // namespace warpsim::ptx
