#include "warpsim/ptx/contract.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "warpsim/ptx/flow.h"

namespace warpsim::ptx {

namespace {

constexpr int32_t kNobody = -1;

struct Product {
  std::vector<int32_t> uses;  // in ascending order
  bool is_number = false;     // somebody needs it rounded
};

bool is_contractible(const Instruction& i) {
  return (i.type == Type::kF32 || i.type == Type::kF64) && i.rounding == Rounding::kNone;
}
bool is_product(const Instruction& i) {
  return i.op == Opcode::kMul && is_contractible(i) && !i.sat && i.guard < 0 && i.dst.size() == 1 &&
         i.src.size() == 2;
}
bool is_sum(const Instruction& i) {
  return (i.op == Opcode::kAdd || i.op == Opcode::kSub) && is_contractible(i) &&
         i.src.size() == 2 && i.dst.size() == 1;
}

// Whether ptxas makes code with branches of it, or a branch around it, so that its basic block
// ends.
bool ends_block(const Instruction& i) {
  const bool ieee = is_float(i.type) && !i.approx && !i.full;
  switch (i.op) {
    case Opcode::kDiv:
      return ieee || is_signed(i.type) || i.type == Type::kU64;
    case Opcode::kRem:
      return is_signed(i.type) || i.type == Type::kU64;
    case Opcode::kRcp:
    case Opcode::kSqrt:
      return ieee || i.type == Type::kF64;
    case Opcode::kRsqrt:
      return i.type == Type::kF64;
    case Opcode::kMembar:
    case Opcode::kCall:
      return true;
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kMov:
    case Opcode::kFma:
      return false;
    default:
      return i.guard >= 0;
  }
}

template <class Visit>
void each_register(const std::vector<Operand>& operands, Visit visit) {
  for (const Operand& operand : operands) {
    if (operand.reg >= 0) visit(operand.reg);
    for (const Operand& element : operand.elements) {
      if (element.reg >= 0) visit(element.reg);
    }
  }
}

class Contraction {
 public:
  Contraction(Function* function, Flow flow) : f_(*function), flow_(std::move(flow)) {}

  size_t run() {
    find_products();
    size_t count = 0;
    for (int32_t i = 0; i < int32_t(f_.code.size()); ++i) choose(i);
    for (auto& [sum, operand] : chosen_) {
      const int32_t product = products_in_.at(sum)[size_t(operand)];
      if (products_.at(product).is_number) continue;
      rewrite(sum, operand, product);
      ++count;
    }
    return count;
  }

 private:
  // Follows each register through each basic block.
  void find_products() {
    std::vector<int32_t> product_of(f_.registers.size(), kNobody);  // that it holds now
    std::vector<bool> escapes(f_.registers.size(), false);          // is read before it is written
    std::vector<bool> written(f_.registers.size(), false);
    std::vector<int32_t> touched;
    auto finish_block = [&] {
      for (int32_t reg : touched) {
        product_of[size_t(reg)] = kNobody;
        written[size_t(reg)] = false;
      }
      touched.clear();
      products_of_factor_.clear();
    };
    for (size_t at = 0; at < f_.code.size(); ++at) {
      if (flow_.leader[at]) finish_block();
      const Instruction& i = f_.code[at];
      auto read = [&](int32_t reg) {
        if (!written[size_t(reg)]) escapes[size_t(reg)] = true;
        use(product_of[size_t(reg)], int32_t(at));
      };
      each_register(i.src, read);
      if (i.guard >= 0) read(i.guard);
      each_register(i.dst, [&](int32_t reg) {
        if (i.guard >= 0) {
          escapes[size_t(reg)] = true;  // what it held before may still be read
          return;
        }
        forget_factor(reg);
        written[size_t(reg)] = true;
        touched.push_back(reg);
        product_of[size_t(reg)] = kNobody;
      });
      if (ends_block(i)) finish_block();
      if (!is_product(i) || i.dst[0].reg < 0) continue;
      product_of[size_t(i.dst[0].reg)] = int32_t(at);
      products_[int32_t(at)].is_number =
          i.src[0].reg == i.dst[0].reg || i.src[1].reg == i.dst[0].reg;
      each_register(i.src, [&](int32_t reg) { products_of_factor_[reg].push_back(int32_t(at)); });
    }
    for (auto& [at, product] : products_) {
      if (escapes[size_t(f_.code[size_t(at)].dst[0].reg)]) product.is_number = true;
    }
  }

  // Instruction `at` reads a register that holds a product.
  void use(int32_t product, int32_t at) {
    if (product == kNobody) return;
    Product& p = products_.at(product);
    const Instruction &sum = f_.code[size_t(at)], &mul = f_.code[size_t(product)];
    const bool twice = !p.uses.empty() && p.uses.back() == at;
    if (!is_sum(sum) || sum.type != mul.type || sum.ftz != mul.ftz || twice ||
        stale_.count(product))
      p.is_number = true;
    p.uses.push_back(at);
    auto& operands = products_in_.try_emplace(at, std::array{kNobody, kNobody}).first->second;
    for (size_t n = 0; n < sum.src.size() && n < 2; ++n) {
      if (sum.src[n].reg >= 0 && sum.src[n].reg == mul.dst[0].reg) operands[n] = product;
    }
  }

  // A register is written: products of what it held cannot be worked out any more.
  void forget_factor(int32_t reg) {
    auto found = products_of_factor_.find(reg);
    if (found == products_of_factor_.end()) return;
    stale_.insert(found->second.begin(), found->second.end());
    products_of_factor_.erase(found);
  }

  // Which product, if any, the sum `at` takes.
  void choose(int32_t at) {
    auto found = products_in_.find(at);
    if (found == products_in_.end() || !is_sum(f_.code[size_t(at)])) return;
    auto usable = [&](size_t n) {
      const int32_t product = found->second[n];
      return product != kNobody && !products_.at(product).is_number;
    };
    if (usable(0) && usable(1)) {
      Product &first = products_.at(found->second[0]), &second = products_.at(found->second[1]);
      const bool take_first = first.uses.size() <= second.uses.size();
      (take_first ? second : first).is_number = true;
      chosen_[at] = take_first ? 0 : 1;
    } else if (usable(0) || usable(1)) {
      chosen_[at] = usable(0) ? 0 : 1;
    }
  }

  static Operand negative(Operand operand, Type type) {
    if (operand.kind == Operand::Kind::kImmediate)
      operand.imm ^= type == Type::kF32 ? uint64_t{1} << 31 : uint64_t{1} << 63;
    else
      operand.negated = true;
    return operand;
  }

  // x + c, c + x, x - c, c - x with x = a * b.
  void rewrite(int32_t at, int operand, int32_t product) {
    Instruction& sum = f_.code[size_t(at)];
    const Instruction& mul = f_.code[size_t(product)];
    Operand a = mul.src[0], b = mul.src[1], c = sum.src[operand == 0 ? 1 : 0];
    if (sum.op == Opcode::kSub) (operand == 0 ? c : a) = negative(operand == 0 ? c : a, sum.type);
    sum.op = Opcode::kFma;
    sum.rounding = Rounding::kRn;
    sum.mnemonic = std::string("fma.rn") + (sum.ftz ? ".ftz" : "") + (sum.sat ? ".sat" : "") +
                   (sum.type == Type::kF32 ? ".f32" : ".f64");
    sum.src = {a, b, c};
  }

  Function& f_;
  const Flow flow_;
  std::map<int32_t, Product> products_;                         // by instruction
  std::map<int32_t, std::array<int32_t, 2>> products_in_;       // per user: what its operands are
  std::map<int32_t, std::vector<int32_t>> products_of_factor_;  // by register, in this block
  std::set<int32_t> stale_;                                     // products whose factors are gone
  std::map<int32_t, int> chosen_;                               // per sum: which operand
};

}  // namespace

size_t contract_products(Function* function) {
  if (std::ranges::none_of(function->code, is_product)) return 0;
  return Contraction(function, analyse_flow(*function)).run();
}

}  // namespace warpsim::ptx
