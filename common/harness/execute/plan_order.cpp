#include "harness/execute/plan_order.h"

#include <algorithm>

#include "warpsim/finding_text.h"

namespace tilewise {

using warpsim::Touched;

PlanOrder::PlanOrder(const plan::Plan& plan, const Addresses& addresses, Report report)
    : plan_(plan), addresses_(addresses), report_(std::move(report)) {
  is_in_doubt_ = std::any_of(plan.ops.begin(), plan.ops.end(), [](const plan::Op& op) {
    const auto* launch = std::get_if<plan::Launch>(&op);
    return std::holds_alternative<plan::MakeStream>(op) || (launch && launch->is_early);
  });
  // What is done before the first stream is made may be met by its work.
  for (const plan::Op& op : plan.ops) {
    if (const auto* made = std::get_if<plan::MakeStream>(&op)) done(*made);
  }
}

Touched PlanOrder::range(uint32_t buffer, uint64_t offset, uint64_t bytes, bool writes) const {
  const uint64_t first = addresses_.of(buffer) + offset;
  return {first, first + bytes, writes, {}, 0};
}

void PlanOrder::add(uint32_t stream, const char* operation, uint64_t call,
                    std::vector<Touched> touched) {
  add(stream, {operation, false, call, std::move(touched)});
}

void PlanOrder::add(uint32_t stream, warpsim::StreamWork work) {
  if (!is_in_doubt_) return;
  for (const warpsim::Unordered& met : work_.add(stream, std::move(work))) {
    warpsim::Diagnostic d = unordered_finding(met);
    for (const plan::Buffer& buffer : plan_.buffers) {
      const uint64_t start = addresses_.of(buffer.id);
      if (start == 0 || met.address < start || met.address - start >= buffer.bytes) continue;
      d.array = buffer.name;
      d.array_bytes = buffer.bytes;
      d.offset_bytes = static_cast<int64_t>(met.address - start);
    }
    d.message = sentence(d);
    report_(d);
  }
}

void PlanOrder::launched(const plan::Launch& op, const warpsim::LaunchReport& report) {
  add(op.stream, work_of(report, op.is_early, op.call));
}

void PlanOrder::wrote_symbol(const plan::SymbolWrite& op, uint64_t address, uint64_t bytes) {
  add(op.stream, "copy to the device", op.call, {{address, address + bytes, true, {}, 0}});
}

void PlanOrder::done(const plan::Malloc& op) {
  if (!op.in_stream) return;
  add(op.stream, "cudaMallocAsync", op.call,
      {range(op.buffer, 0, plan_.buffers[op.buffer].bytes, true)});
}

void PlanOrder::done(const plan::Free& op) {
  if (!op.in_stream) return;
  add(op.stream, "cudaFreeAsync", op.call,
      {range(op.buffer, 0, plan_.buffers[op.buffer].bytes, true)});
}

void PlanOrder::done(const plan::CopyToDevice& op) {
  add(op.stream, "copy to the device", op.call, {range(op.buffer, op.offset, op.bytes, true)});
}

void PlanOrder::done(const plan::CopyToHost& op) {
  add(op.stream, "copy to the host", op.call,
      {range(op.buffer, op.buffer_offset, op.bytes, false)});
}

void PlanOrder::done(const plan::CopyOnDevice& op) {
  std::vector<Touched> touched;
  for (uint64_t row = 0; is_in_doubt_ && row < op.rows; ++row) {
    touched.push_back(range(op.source, op.source_offset + row * op.source_pitch, op.bytes, false));
    touched.push_back(range(op.buffer, op.offset + row * op.pitch, op.bytes, true));
  }
  add(op.stream, "copy on the device", op.call, std::move(touched));
}

void PlanOrder::done(const plan::Memset& op) {
  std::vector<Touched> touched;
  for (uint64_t row = 0; is_in_doubt_ && row < op.rows; ++row)
    touched.push_back(range(op.buffer, op.offset + row * op.pitch, op.bytes, true));
  add(op.stream, "memset", op.call, std::move(touched));
}

void PlanOrder::done(const plan::Sync& op) {
  warpsim::StreamOrder& order = work_.order();
  if (op.what == plan::WaitsFor::kDevice) order.host_waits_for_device();
  if (op.what == plan::WaitsFor::kStream) order.host_waits_for_stream(op.id);
  if (op.what == plan::WaitsFor::kEvent) order.host_waits_for_event(op.id);
}

void PlanOrder::done(const plan::MakeStream& op) {
  work_.order().make_stream(op.stream, op.is_blocking);
}

void PlanOrder::done(const plan::RecordEvent& op) {
  work_.order().record_event(op.event, op.stream);
}

void PlanOrder::done(const plan::WaitForEvent& op) {
  work_.order().wait_for_event(op.stream, op.event);
}

void PlanOrder::done(const plan::EarlyUse& op) {
  using Kind = plan::EarlyUse::Kind;
  warpsim::Diagnostic d;
  d.code = warpsim::Code::kUnorderedStreams;
  d.cause = op.kind == Kind::kRead    ? warpsim::Cause::kHostRead
            : op.kind == Kind::kWrite ? warpsim::Cause::kHostWrote
                                      : warpsim::Cause::kSolveReturned;
  d.scope = warpsim::Scope::kHost;
  d.count = 1;
  d.amount = op.bytes;
  d.space = warpsim::MemorySpace::kGlobal;
  d.array = plan_.buffers[op.buffer].name;
  d.array_bytes = plan_.buffers[op.buffer].bytes;
  d.offset_bytes = static_cast<int64_t>(op.offset);
  d.access = op.kind == Kind::kWrite ? warpsim::AccessKind::kStore : warpsim::AccessKind::kLoad;
  d.call = op.call;
  d.other.emplace();
  d.other->access =
      op.kind == Kind::kWrite ? warpsim::AccessKind::kLoad : warpsim::AccessKind::kStore;
  d.other->operation = op.kind == Kind::kWrite ? "copy to the device" : "copy to the host";
  d.other->stream = op.stream;
  d.other->call = op.copy_call;
  d.message = sentence(d);
  report_(d);
}

}  // namespace tilewise
