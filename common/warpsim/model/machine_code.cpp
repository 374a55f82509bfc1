#include "warpsim/model/machine_code.h"

#include <algorithm>
#include <array>
#include <map>

namespace warpsim {

namespace {

constexpr int kScoreboards = 6;
constexpr unsigned kNone = 7;
constexpr uint8_t kZeroRegister = 255;

// The low nine bits of an instruction say what it does; the next three the kinds of its operands.
enum Opcode : unsigned {
  kFmul = 0x20,
  kFadd = 0x21,
  kFfma = 0x23,
  kImad = 0x24,
  kImadWide = 0x25,
  kImadHi = 0x27,
  kDmul = 0x28,
  kDadd = 0x29,
  kDsetp = 0x2a,
  kDfma = 0x2b,
  kHfma2 = 0x35,
  kFirstUniform = 0x80,
  kLastUniform = 0xbf,
  kFirstSlow = 0x100,
  kLastSlow = 0x112,
  kNop = 0x118,
  kS2r = 0x119,
  kDepbar = 0x11a,
  kBar = 0x11d,
  kBsync = 0x141,
  kBssy = 0x145,
  kBra = 0x147,
  kBrx = 0x149,
  kExit = 0x14d,
  kLdg = 0x181,
  kLdc = 0x182,
  kLdl = 0x183,
  kLds = 0x184,
  kStg = 0x186,
  kStl = 0x187,
  kSts = 0x188,
  kShfl = 0x189,
  kAtoms = 0x18c,
  kRedg = 0x18e,
  kRedg2 = 0x1a6,
  kAtomg = 0x1a8,
  kAtomgCas = 0x1a9,
  kLdgsts = 0x1ae,
  kLdgdepbar = 0x1af,
  kS2ur = 0x1c3,
  kRedux = 0x1c4,
  kHmma = 0x3c,
  kLdsm = 0x3b,
  kStsm = 0x44,
  kImma = 0x37,
  kDmma = 0x3f,
};

Work work_of(unsigned opcode) {
  switch (opcode) {
    case kFmul:
    case kFadd:
    case kFfma:
    case kHfma2:
      return Work::kFma;
    case kImad:
    case kImadWide:
    case kImadHi:
      return Work::kMultiply;
    case kDmul:
    case kDadd:
    case kDsetp:
    case kDfma:
      return Work::kDouble;
    case kNop:
    case kBsync:
    case kBssy:
      return Work::kUniform;
    case kS2r:
    case kLdc:
    case kS2ur:
      return Work::kConstant;
    case kDepbar:
      return Work::kWaitCopies;
    case kLdgdepbar:
      return Work::kCommitCopies;
    case kBar:
      return Work::kBarrier;
    case kBra:
    case kBrx:
      return Work::kBranch;
    case kExit:
      return Work::kExit;
    case kLdg:
      return Work::kGlobalLoad;
    case kStg:
      return Work::kGlobalStore;
    case kLdl:
    case kStl:
      return Work::kLocal;
    case kLds:
    case kLdsm:
      return Work::kSharedLoad;
    case kSts:
    case kStsm:
      return Work::kSharedStore;
    case kShfl:
    case kRedux:
    case kAtoms:
      return Work::kShuffle;
    case kRedg:
    case kRedg2:
    case kAtomg:
    case kAtomgCas:
      return Work::kAtomic;
    case kLdgsts:
      return Work::kAsyncCopy;
    case kHmma:
    case kImma:
    case kDmma:
      return Work::kTensor;
    default:
      if (opcode >= kFirstUniform && opcode <= kLastUniform) return Work::kUniform;
      if (opcode >= kFirstSlow && opcode <= kLastSlow) return Work::kSlow;
      return Work::kInteger;
  }
}

// Bytes per lane of a memory instruction: 1, 1, 2, 2, 4, 8, 16.
uint8_t access_bytes(const MachineWord& word) {
  constexpr std::array<uint8_t, 8> kBytes = {1, 1, 2, 2, 4, 8, 16, 16};
  return kBytes[word.bits(73, 3)];
}

// Bytes that HMMA takes of each row of its left factor, 16 x k. As ptxas of CUDA 13.0 writes it for
// sm_90: bit 75 for k = 16 of 16-bit numbers, bit 83 for tf32, and bit 78 for its k = 4.
uint8_t tensor_bytes(const MachineWord& word) {
  const bool is_tf32 = word.bits(83, 1) != 0;
  return (is_tf32 ? word.bits(78, 1) == 0 : word.bits(75, 1) != 0) ? 32 : 16;
}

// Where a branch goes, in instructions from the next one. The distance is in units of 4 bytes:
// since compute capability 9.0 its low byte stands apart.
int64_t branch_distance(const MachineWord& word, int architecture) {
  const uint64_t wide = word.low >> 34 | word.high << 30;  // 48 bits from bit 34
  int64_t distance = int64_t(wide << 16) >> 16;
  if (architecture >= 90) distance = distance * 256 + int64_t(word.bits(16, 8));
  return distance * 4 / 16;
}

// Registers that each multiply-add reads from the two banks (even and odd registers), given what is
// left in the reuse cache: one register per operand position and bank, if marked.
class RegisterReads {
 public:
  std::array<int, 2> of(const MachineWord& word) {
    constexpr std::array<unsigned, 3> kAt = {24, 32, 64};
    constexpr unsigned kAllRegisters = 1;  // form: no immediate, constant or uniform operand
    std::array<int, 2> reads{};
    for (unsigned position = 0; position < 3; ++position) {
      if (position == 1 && word.bits(9, 3) != kAllRegisters) continue;
      const auto reg = uint8_t(word.bits(kAt[position], 8));
      if (reg == kZeroRegister) continue;
      int& kept = kept_[position][reg % 2];
      if (kept != reg) ++reads[reg % 2];
      kept = (word.bits(122 + position, 1) != 0) ? reg : -1;
    }
    return reads;
  }

 private:
  std::array<std::array<int, 2>, 3> kept_{{{-1, -1}, {-1, -1}, {-1, -1}}};
};

// A bank gives one register of a warp a cycle. Where a multiply-add issues every cycle, two
// neighbours share the two banks' cycles: a pair takes as many as it reads from the bank it reads
// most, two at least. Which of them form pairs is not known, so both ways are averaged.
// Microbenchmarks agree within 4% (solutions/summit/NOTES.md). Where it keeps 16 lanes for two
// cycles (7.0 to 8.0), only three operands in one bank take longer (Jia et al., Dissecting the
// NVIDIA Volta GPU Architecture via Microbenchmarking, 2018).
void add_bank_conflicts(const CubinKernel& kernel, MachineCode& out) {
  constexpr int kFirstWide = 86;  // 32 lanes a scheduler
  RegisterReads registers;
  std::vector<size_t> places;
  std::vector<std::array<int, 2>> reads;
  for (size_t i = 0; i < kernel.code.size(); ++i) {
    if (kernel.code[i].bits(0, 9) != kFfma) continue;
    places.push_back(i);
    reads.push_back(registers.of(kernel.code[i]));
  }
  auto pair = [&](size_t a) {
    if (a + 1 >= reads.size()) return 2;
    return std::max({2, reads[a][0] + reads[a + 1][0], reads[a][1] + reads[a + 1][1]});
  };
  for (size_t i = 0; i < places.size(); ++i) {
    out.code[places[i]].issue_cycles = kernel.architecture >= kFirstWide
                                           ? float(pair(i) + pair(i == 0 ? 0 : i - 1)) / 4
                                           : float(std::max({2, reads[i][0], reads[i][1]})) / 2;
  }
}

// PTX line -> index into the code. A line holds one instruction.
std::map<uint32_t, int32_t> instructions_by_line(const ptx::Function& function) {
  std::map<uint32_t, int32_t> by_line;
  for (size_t i = 0; i < function.code.size(); ++i)
    by_line.try_emplace(function.code[i].ptx_line, int32_t(i));
  return by_line;
}

}  // namespace

MachineCode decode_machine_code(const CubinKernel& kernel, const ptx::Function& function) {
  MachineCode out;
  out.slots = kScoreboards;
  const std::map<uint32_t, int32_t> by_line = instructions_by_line(function);
  for (size_t i = 0; i < kernel.code.size(); ++i) {
    const MachineWord& word = kernel.code[i];
    const auto opcode = unsigned(word.bits(0, 9));
    MachineInstruction m;
    m.work = work_of(opcode);
    m.bytes = opcode == kLdsm || opcode == kStsm ? 4 : access_bytes(word);
    if (opcode == kHmma) m.tensor_bytes = tensor_bytes(word);
    constexpr unsigned kAlways = 7;
    m.guarded = word.bits(12, 4) != kAlways;
    m.stall = uint8_t(std::max<uint64_t>(1, word.bits(105, 4)));
    if (word.bits(110, 3) != kNone) m.reports_to = int16_t(word.bits(110, 3));
    if (word.bits(113, 3) != kNone) m.frees = int16_t(word.bits(113, 3));
    for (int slot = 0; slot < kScoreboards; ++slot) {
      if (word.bits(116 + unsigned(slot), 1) != 0) m.waits.push_back(int16_t(slot));
    }
    if (opcode == kBra) {
      const int64_t target = int64_t(i) + 1 + branch_distance(word, kernel.architecture);
      if (target >= 0 && target < int64_t(kernel.code.size())) m.target = int32_t(target);
      m.links = m.guarded || word.bits(87, 4) != kAlways;
    }
    if (m.work == Work::kWaitCopies) {
      m.pending_copies = uint8_t(word.bits(38, 6));
      m.reports_to = int16_t(word.bits(44, 3));
    }
    if (const auto found = by_line.find(word.ptx_line); found != by_line.end())
      m.ptx = found->second;
    out.code.push_back(std::move(m));
  }
  add_bank_conflicts(kernel, out);
  return out;
}

}  // namespace warpsim
