#include "warpsim/observe/reporter.h"

#include "warpsim/machine/worker.h"

namespace warpsim {

void Reporter::set_line(Party* party, uint32_t function, uint32_t instruction) const {
  const ptx::SourceLine where = launch_->image->instruction(function, instruction).where;
  const auto& files = launch_->image->module.files;
  const bool known = where.line != 0 && where.file >= 0 && size_t(where.file) < files.size();
  party->file = known ? files[size_t(where.file)] : "";
  party->line = known ? where.line : 0;
}

Diagnostic* Reporter::add(const Kind& kind, const Warp& w, uint32_t lane, uint32_t function,
                          uint32_t instruction, uint64_t count, bool telling) {
  // An error takes about as long as an instruction of a warp, and counts as one of the launch's
  // budget: else a flood of races would take many times as long as any other loop without an end.
  if (kind.severity == Severity::kError) w.worker->used += count;
  if (last_.found != nullptr && last_.kind == kind && last_.function == function &&
      last_.instruction == instruction && last_.found->telling >= telling) {
    last_.found->diagnostic.count += count;
    return nullptr;
  }
  const ptx::Instruction& code = launch_->image->instruction(function, instruction);
  const bool has_line = code.where.line != 0;
  const Key key{kind, has_line ? code.where.file : -1, code.where.line,
                has_line ? 0 : code.ptx_line};
  auto it = found.find(key);
  if (it != found.end() && it->second.telling >= telling) {
    it->second.diagnostic.count += count;
    last_ = {kind, function, instruction, &it->second};
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
  d.code = kind.code;
  d.severity = kind.severity;
  d.kernel = launch_->image->module.functions[size_t(launch_->function)].source_name;
  d.block = w.block->index;
  d.thread = launch_->thread_of(w.index * kLanes + lane);
  d.count = count;
  if (w.worker->events != nullptr) d.event = w.worker->events->event_of(w);
  set_line(&d, function, instruction);
  return &d;
}

}  // namespace warpsim
