#include "warpsim/ptx/merge.h"

#include <algorithm>
#include <bit>
#include <map>

#include "warpsim/ptx/address_form.h"
#include "warpsim/ptx/control_flow.h"

namespace warpsim::ptx {

namespace {

constexpr int64_t kWordBytes = 4, kPairBytes = 8, kQuadBytes = 16;

using Terms = std::vector<AddressForm::Term>;

struct Access {
  uint32_t instruction = 0;
  int64_t offset = 0;  // bytes
  int64_t bytes = 0;
};

int64_t block_of(int64_t offset, int64_t block_bytes) {
  return (offset >= 0 ? offset : offset - block_bytes + 1) / block_bytes;
}

bool overlap(const Access& a, const Access& b) {
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

int64_t access_bytes(const Instruction& code) {
  return int64_t{size_bytes(code.type)} * code.vector_width;
}

bool is_shared_load(const Instruction& code) {
  return (code.op == Opcode::kLd || code.op == Opcode::kLdu) && code.space == Space::kShared;
}

bool is_shared_store(const Instruction& code) {
  return code.op == Opcode::kSt && code.space == Space::kShared;
}

bool may_merge(const Instruction& code) {
  return code.guard < 0 && !code.is_volatile && access_bytes(code) >= kWordBytes;
}

// Accesses to shared memory whose addresses are not followed.
bool touches_shared(const Instruction& code) {
  const bool memory = code.op == Opcode::kLd || code.op == Opcode::kLdu || code.op == Opcode::kSt ||
                      code.op == Opcode::kAtom || code.op == Opcode::kRed ||
                      code.op == Opcode::kLdmatrix || code.op == Opcode::kStmatrix;
  return memory && (code.space == Space::kShared || code.space == Space::kGeneric);
}

bool writes_shared(const Instruction& code) {
  return touches_shared(code) && code.op != Opcode::kLd && code.op != Opcode::kLdu &&
         code.op != Opcode::kLdmatrix;
}

bool orders_memory(Opcode op) {
  return op == Opcode::kBar || op == Opcode::kBarWarp || op == Opcode::kMembar ||
         op == Opcode::kCall || op == Opcode::kCpAsync || op == Opcode::kCpAsyncWait ||
         op == Opcode::kMbarrier || op == Opcode::kMbarrierWait || op == Opcode::kCopiesArrive ||
         op == Opcode::kProxyFence || op == Opcode::kBulkCopy || op == Opcode::kBulkWait ||
         op == Opcode::kUnknown;
}

// Which words of an aligned block are accessed, as bits.
uint32_t words(const std::vector<Access>& accesses, int64_t block, int64_t block_bytes) {
  uint32_t set = 0;
  for (const Access& a : accesses) {
    if (block_of(a.offset, block_bytes) != block) continue;
    for (int64_t w = 0; w < a.bytes / kWordBytes; ++w)
      set |= 1u << ((a.offset - block * block_bytes) / kWordBytes + w);
  }
  return set;
}

class Merger {
 public:
  Merger(const Module& module, const Function& function, const Flow& flow)
      : function_(function),
        flow_(flow),
        forms_(module, function),
        is_read_(function.registers.size()) {
    for (const Instruction& code : function.code)
      visit_reads(code, [&](int32_t r) { is_read_[size_t(r)] = true; });
  }

  std::vector<MergedAccess> run() {
    for (uint32_t i = 0; i < function_.code.size(); ++i) {
      if (flow_.leader[i]) {
        flush();
        forms_.begin_block(i);
      }
      visit(i);
      forms_.pass(i);
    }
    flush();
    std::sort(found_.begin(), found_.end(), [](const MergedAccess& a, const MergedAccess& b) {
      return a.instructions[0] < b.instructions[0];
    });
    return std::move(found_);
  }

 private:
  struct Loads {
    std::vector<Access> loads, stores;  // stores at a constant distance that came between
  };

  void visit(uint32_t i) {
    const Instruction& code = function_.code[i];
    if (orders_memory(code.op)) {
      flush();
    } else if (is_shared_load(code)) {
      finish_stores();
      if (may_merge(code) && !narrow(i)) add_load(i);
    } else if (is_shared_store(code) && may_merge(code)) {
      add_store(i);
    } else if (touches_shared(code)) {
      if (writes_shared(code))
        flush();
      else
        finish_stores();
    }
  }

  // True if only a part of the vector is wanted, and so loaded.
  bool narrow(uint32_t i) {
    const Instruction& code = function_.code[i];
    if (code.vector_width != 4 || size_bytes(code.type) != kWordBytes) return false;
    uint32_t used = 0;
    for (size_t e = 0; e < code.dst[0].elements.size(); ++e) {
      const int32_t reg = code.dst[0].elements[e].reg;
      if (reg >= 0 && is_read_[size_t(reg)]) used |= 1u << e;
    }
    if (std::popcount(used) != 2) return false;
    const bool half = used == 0b0011 || used == 0b1100;
    found_.push_back({{i}, uint32_t(half ? kPairBytes : kWordBytes), half ? 1u : 2u});
    return true;
  }

  void add_load(uint32_t i) {
    const auto [terms, access] = at(i);
    Loads& group = loads_[terms];
    for (const Access& store : group.stores) {
      if (!overlap(access, store)) continue;
      finish_loads(terms, group.loads);
      group = {};
      break;
    }
    group.loads.push_back(access);
  }

  void add_store(uint32_t i) {
    const auto [terms, access] = at(i);
    for (auto& [other, group] : loads_) {
      if (other == terms) continue;
      finish_loads(other, group.loads);
      group = {};
    }
    loads_[terms].stores.push_back(access);
    const int64_t unit = block_bytes(terms);
    const bool goes_on =
        !stores_.empty() && terms == store_terms_ && unit > kWordBytes &&
        block_of(stores_[0].offset, unit) == block_of(access.offset, unit) &&
        std::none_of(stores_.begin(), stores_.end(),
                     [&, &access = access](const Access& a) { return overlap(a, access); });
    if (!goes_on) finish_stores();
    store_terms_ = terms;
    stores_.push_back(access);
  }

  std::pair<Terms, Access> at(uint32_t i) const {
    const Instruction& code = function_.code[i];
    AddressForm form = forms_.of(code.src[0]);
    return {std::move(form.terms), Access{i, form.offset, access_bytes(code)}};
  }

  // The largest aligned block that accesses with this base can share.
  int64_t block_bytes(const Terms& terms) const {
    return std::min(kQuadBytes, int64_t{1} << forms_.known_zero_bits(terms));
  }

  void flush() {
    for (auto& [terms, group] : loads_) finish_loads(terms, group.loads);
    loads_.clear();
    finish_stores();
  }

  void finish_stores() {
    if (stores_.size() > 1) split(stores_, block_bytes(store_terms_), 4);
    stores_.clear();
  }

  // Loads of one base: by aligned blocks, and those of one address together where no block is made.
  void finish_loads(const Terms& terms, const std::vector<Access>& loads) {
    if (loads.size() > 1) split(loads, block_bytes(terms), 3);
  }

  // Makes one access of the blocks of which enough words are accessed, and tries the smaller ones
  // elsewhere.
  void split(const std::vector<Access>& accesses, int64_t unit, int enough_of_four) {
    std::map<int64_t, std::vector<Access>> blocks;
    for (const Access& a : accesses)
      blocks[block_of(a.offset, std::max(unit, a.bytes))].push_back(a);
    for (const auto& [block, inside] : blocks) {
      if (inside.size() < 2) continue;
      const int have = std::popcount(words(inside, block, unit));
      const bool whole =
          (unit == kQuadBytes && have >= enough_of_four) || (unit == kPairBytes && have == 2);
      const bool same =
          std::all_of(inside.begin(), inside.end(), [&, &inside = inside](const Access& a) {
            return a.offset == inside[0].offset && a.bytes == inside[0].bytes;
          });
      if (same)
        emit(inside, inside[0].bytes);
      else if (whole)
        emit(inside, unit);
      else if (unit > kWordBytes)
        split(inside, unit / 2, enough_of_four);
    }
  }

  void emit(const std::vector<Access>& accesses, int64_t bytes) {
    MergedAccess merged;
    merged.bytes = uint32_t(bytes);
    for (const Access& a : accesses) merged.instructions.push_back(a.instruction);
    std::sort(merged.instructions.begin(), merged.instructions.end());
    found_.push_back(std::move(merged));
  }

  const Function& function_;
  const Flow& flow_;
  AddressForms forms_;
  std::vector<bool> is_read_;  // per register
  std::map<Terms, Loads> loads_;
  Terms store_terms_;
  std::vector<Access> stores_;  // that follow each other in one aligned block
  std::vector<MergedAccess> found_;
};

}  // namespace

std::vector<MergedAccess> merge_shared_accesses(const Module& module, const Function& function,
                                                const Flow& flow) {
  return Merger(module, function, flow).run();
}

}  // namespace warpsim::ptx
