#include "harness/execute/inspect.h"

#include <algorithm>
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

Matrix poisoned(const plan::Plan& plan, const std::string& name) {
  Matrix array;
  plan.shape(name, &array.rows, &array.columns);
  array.element =
      plan.signature.parameters[static_cast<size_t>(plan.signature.array(name))].element;
  array.values.assign(uint64_t{array.rows} * array.columns, std::bit_cast<float>(kPoison));
  return array;
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

void Inspection::look_at_output(const std::string& name, const Matrix& left) {
  OutputState& state = outputs_[name];
  for (uint64_t i = 0; i < left.values.size(); ++i) {
    uint32_t word;
    std::memcpy(&word, &left.values[i],
                4);  // as bits: a NaN must not pass through a float register
    if (word != kPoison) continue;
    if (state.unwritten++ == 0) state.first_unwritten = static_cast<int64_t>(i);
  }
}

void Inspection::conclude(const plan::Plan& plan, Execution* execution) const {
  auto& faults = execution->faults;
  execution->outputs = outputs_;
  execution->modified_inputs = modified_;
  bool stopped = execution->status != Status::kOk && execution->status != Status::kLaunchConfig;
  if (execution->launches == 0 && !stopped) {
    faults.push_back(no_launch());
  }
  auto elements = [&plan](const std::string& name) {
    uint32_t rows = 0, columns = 0;
    plan.shape(name, &rows, &columns);
    return uint64_t{rows} * columns;
  };
  if (plan.host_writes.count > 0) {
    uint64_t first = plan.host_writes.first < 0 ? 0 : static_cast<uint64_t>(plan.host_writes.first);
    const std::string name = plan.written_by_host();
    // What goes to the device, or into arguments, may go there more than once.
    const uint64_t count = std::min(plan.host_writes.count, elements(name));
    faults.push_back(fault(plan, warpsim::Code::kHostComputed, name, first, count, elements(name)));
  }
  for (const ModifiedInput& input : modified_) {
    faults.push_back(
        fault(plan, warpsim::Code::kInputModified, input.name, input.first_index, input.count, 0));
  }
  bool explained =
      stopped || execution->launches == 0 || execution->status == Status::kLaunchConfig;
  for (const auto& [name, state] : outputs_) {
    if (state.unwritten == 0 || explained) continue;
    faults.push_back(fault(plan, warpsim::Code::kUnwrittenOutput, name,
                           static_cast<uint64_t>(state.first_unwritten), state.unwritten,
                           elements(name)));
  }
}

}  // namespace tilewise
