#include "warpsim/observe/reporter.h"

#include "warpsim/exec/worker.h"

namespace warpsim {

const char* code_of(Fault fault) {
  switch (fault) {
    case Fault::kOutOfBoundsGlobal:
      return "out-of-bounds-global";
    case Fault::kOutOfBoundsShared:
      return "out-of-bounds-shared";
    case Fault::kMisaligned:
      return "misaligned-access";
    case Fault::kUninitialisedShared:
      return "uninitialised-shared";
    case Fault::kUninitialisedGlobal:
      return "uninitialised-global";
    case Fault::kRaceShared:
      return "race-shared";
    case Fault::kRaceGlobal:
      return "race-global";
    case Fault::kBarrierDivergence:
    case Fault::kExitedBeforeBarrier:
      return "barrier-divergence";
    case Fault::kTimeout:
      return "timeout";
    case Fault::kUnsupported:
      return "unsupported";
    case Fault::kAssert:
      return "assert";
    case Fault::kTrap:
      return "trap";
  }
  return "";
}

void Reporter::set_line(Diagnostic* d, bool other, uint32_t function, uint32_t instruction) const {
  const ptx::SourceLine where = launch_->image->instruction(function, instruction).where;
  const auto& files = launch_->image->module.files;
  const bool known = where.line != 0 && where.file >= 0 && size_t(where.file) < files.size();
  (other ? d->other_file : d->file) = known ? files[size_t(where.file)] : "";
  (other ? d->other_line : d->line) = known ? where.line : 0;
}

Diagnostic* Reporter::add(Fault fault, const Warp& w, uint32_t lane, uint32_t function,
                          uint32_t instruction, uint64_t count, bool telling) {
  if (last_.found != nullptr && last_.fault == fault && last_.function == function &&
      last_.instruction == instruction && last_.found->telling >= telling) {
    last_.found->diagnostic.count += count;
    return nullptr;
  }
  const ptx::Instruction& code = launch_->image->instruction(function, instruction);
  const bool has_line = code.where.line != 0;
  const Key key{fault, has_line ? code.where.file : -1, code.where.line,
                has_line ? 0 : code.ptx_line};
  auto it = found.find(key);
  if (it != found.end() && it->second.telling >= telling) {
    it->second.diagnostic.count += count;
    last_ = {fault, function, instruction, &it->second};
    return nullptr;
  }
  if (it == found.end() && found.size() >= launch_->options->max_diagnostics) {
    ++dropped;
    return nullptr;
  }
  Found& f = found[key];
  count += f.diagnostic.count;
  f = {{}, w.block->linear, order_++, telling};
  Diagnostic& d = f.diagnostic;
  d.code = code_of(fault);
  d.kernel = launch_->image->module.functions[size_t(launch_->function)].source_name;
  d.block = w.block->index;
  d.thread = launch_->thread_of(w.index * kLanes + lane);
  d.count = count;
  set_line(&d, false, function, instruction);
  return &d;
}

void Reporter::stop(LaunchStatus status, int cuda_error, std::string message) {
  if (stopped.status != LaunchStatus::kOk) return;
  stopped = {status, cuda_error, std::move(message), current_block};
}

namespace {

std::string coordinates(const std::array<uint32_t, 3>& at, const std::array<uint32_t, 3>& size) {
  std::string text = "(" + std::to_string(at[0]);
  if (size[1] > 1 || size[2] > 1) text += "," + std::to_string(at[1]);
  if (size[2] > 1) text += "," + std::to_string(at[2]);
  return text + ")";
}

}  // namespace

std::string thread_name(const LaunchContext& launch, uint32_t linear) {
  return "thread " + coordinates(launch.thread_of(linear), launch.block);
}
std::string block_name(const LaunchContext& launch, uint64_t linear) {
  return "block " + coordinates(launch.block_of(linear), launch.grid);
}

}  // namespace warpsim
