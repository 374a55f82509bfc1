#include "warpsim/ptx/control_flow.h"

#include <algorithm>

namespace warpsim::ptx {

namespace {

bool ends_block(const Instruction& i) {
  return i.op == Opcode::kBra || i.op == Opcode::kBrx || i.op == Opcode::kRet ||
         i.op == Opcode::kExit;
}

// True if a lane may go on to the next instruction.
bool falls_through(const Instruction& i) {
  return !ends_block(i) || i.guard >= 0;
}

}  // namespace

std::vector<bool> find_leaders(const Function& function) {
  const auto& code = function.code;
  std::vector<bool> leader(code.size(), false);
  for (size_t i = 0; i < code.size(); ++i) {
    if (i == 0) leader[i] = true;
    if (!ends_block(code[i])) continue;
    if (i + 1 < code.size()) leader[i + 1] = true;
    for (const Operand& source : code[i].src) {
      if (source.kind == Operand::Kind::kLabel) leader[source.target] = true;
    }
  }
  return leader;
}

std::vector<Block> build_blocks(const Function& function, const std::vector<bool>& leader) {
  const auto& code = function.code;
  std::vector<Block> blocks;
  std::vector<uint32_t> block_of(code.size());
  for (uint32_t i = 0; i < code.size(); ++i) {
    if (leader[i]) blocks.push_back({i, i, {}});
    blocks.back().end = i + 1;
    block_of[i] = static_cast<uint32_t>(blocks.size() - 1);
  }
  for (Block& block : blocks) {
    const Instruction& last = code[block.end - 1];
    if (falls_through(last) && block.end < code.size()) {
      block.successors.push_back(block_of[block.end]);
    }
    for (const Operand& source : last.src) {
      if (source.kind == Operand::Kind::kLabel) block.successors.push_back(block_of[source.target]);
    }
    std::ranges::sort(block.successors);
    auto& all = block.successors;
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }
  return blocks;
}

}  // namespace warpsim::ptx
