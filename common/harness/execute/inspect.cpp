#include "harness/execute/inspect.h"

#include <bit>
#include <cstring>

#include "warpsim/finding_text.h"

namespace tilewise {

namespace {

// A finding about elements of a matrix: `amount` of `limit`, the first of them `index`.
FoundFault fault(const plan::Plan& plan, warpsim::Code code, const std::string& matrix,
                 uint64_t index, uint64_t amount, uint64_t limit) {
  uint32_t rows = 0, columns = 1;
  plan.shape(matrix, &rows, &columns);
  FoundFault found;
  warpsim::Diagnostic& d = found.diagnostic;
  d.code = code;
  d.count = d.amount = amount;
  d.limit = limit;
  d.space = warpsim::MemorySpace::kGlobal;
  d.array = matrix;
  d.offset_bytes = static_cast<int64_t>(index * 4);
  d.element = {static_cast<uint32_t>(index / columns), static_cast<uint32_t>(index % columns)};
  d.message = warpsim::sentence(d);
  return found;
}

FoundFault no_launch() {
  FoundFault found;
  found.diagnostic.code = warpsim::Code::kNoLaunch;
  found.diagnostic.count = 1;
  found.diagnostic.message = warpsim::sentence(found.diagnostic);
  return found;
}

}  // namespace

Matrix poisoned_output(const plan::Plan& plan) {
  Matrix p{plan.j, plan.l, {}};
  p.values.assign(uint64_t{plan.j} * plan.l, std::bit_cast<float>(kPoison));
  return p;
}

void Inspection::compare_input(const std::string& name, const Matrix& given,
                               const std::vector<std::byte>& left) {
  ModifiedInput input{name, 0, 0};
  const auto* expected = reinterpret_cast<const std::byte*>(given.values.data());
  if (std::memcmp(expected, left.data(), left.size()) == 0) return;
  for (uint64_t i = 0; i < given.values.size(); ++i) {
    if (std::memcmp(expected + i * 4, left.data() + i * 4, 4) == 0) continue;
    if (input.count++ == 0) input.first_index = i;
  }
  modified_.push_back(input);
}

void Inspection::look_at_output(const Matrix& p) {
  for (uint64_t i = 0; i < p.values.size(); ++i) {
    uint32_t word;
    std::memcpy(&word, &p.values[i], 4);  // as bits: a NaN must not pass through a float register
    if (word != kPoison) continue;
    if (output_.unwritten++ == 0) output_.first_unwritten = static_cast<int64_t>(i);
  }
}

void Inspection::conclude(const plan::Plan& plan, Execution* execution) const {
  auto& faults = execution->faults;
  execution->outputs["P"] = output_;
  execution->modified_inputs = modified_;
  bool stopped = execution->status != Status::kOk && execution->status != Status::kLaunchConfig;
  if (execution->launches == 0 && !stopped) {
    faults.push_back(no_launch());
  }
  const uint64_t elements = uint64_t{plan.j} * plan.l;
  if (plan.host_writes.count > 0) {
    uint64_t first = plan.host_writes.first < 0 ? 0 : static_cast<uint64_t>(plan.host_writes.first);
    faults.push_back(
        fault(plan, warpsim::Code::kHostComputed, "P", first, plan.host_writes.count, elements));
  }
  for (const ModifiedInput& input : modified_) {
    faults.push_back(
        fault(plan, warpsim::Code::kInputModified, input.name, input.first_index, input.count, 0));
  }
  bool explained =
      stopped || execution->launches == 0 || execution->status == Status::kLaunchConfig;
  if (output_.unwritten > 0 && !explained) {
    faults.push_back(fault(plan, warpsim::Code::kUnwrittenOutput, "P",
                           static_cast<uint64_t>(output_.first_unwritten), output_.unwritten,
                           elements));
  }
}

}  // namespace tilewise
