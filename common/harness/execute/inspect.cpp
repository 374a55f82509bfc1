#include "harness/execute/inspect.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace tilewise {

namespace {

// "P[3][7]" of element `index`.
std::string element(const plan::Plan& plan, const std::string& name, uint64_t index) {
  uint32_t rows = 0, columns = 1;
  plan.shape(name, &rows, &columns);
  return fmt::format("{}[{}][{}]", name, index / columns, index % columns);
}

FoundFault fault(const char* code, std::string message, const std::string& array, uint64_t index,
                 uint64_t count) {
  FoundFault found;
  found.diagnostic.code = code;
  found.diagnostic.message = std::move(message);
  found.diagnostic.array = array;
  found.diagnostic.offset_bytes = static_cast<int64_t>(index * 4);
  found.diagnostic.count = count;
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
    faults.push_back(fault("no-launch", "solve returned without launching a kernel.", "", 0, 1));
  }
  if (plan.host_writes.count > 0) {
    uint64_t first = plan.host_writes.first < 0 ? 0 : static_cast<uint64_t>(plan.host_writes.first);
    faults.push_back(fault(
        "host-computed",
        fmt::format(
            "solve wrote {} of {} elements of P on the host, the first is {}: P must come from "
            "a kernel.",
            plan.host_writes.count, uint64_t{plan.j} * plan.l, element(plan, "P", first)),
        "P", first, plan.host_writes.count));
  }
  for (const ModifiedInput& input : modified_) {
    faults.push_back(
        fault("input-modified",
              fmt::format(
                  "{} of the elements of {} changed, the first is {}: M and N are inputs and must "
                  "stay as they are.",
                  input.count, input.name, element(plan, input.name, input.first_index)),
              input.name, input.first_index, input.count));
  }
  bool explained =
      stopped || execution->launches == 0 || execution->status == Status::kLaunchConfig;
  if (output_.unwritten > 0 && !explained) {
    uint64_t first = static_cast<uint64_t>(output_.first_unwritten);
    std::string message =
        output_.unwritten == execution->p.values.size() ? "No element of P was written."
        : output_.unwritten == 1
            ? fmt::format("One of {} elements of P was never written: {}.",
                          execution->p.values.size(), element(plan, "P", first))
            : fmt::format("{} of {} elements of P were never written, the first is {}.",
                          output_.unwritten, execution->p.values.size(), element(plan, "P", first));
    faults.push_back(fault("unwritten-output", message, "P", first, output_.unwritten));
  }
}

}  // namespace tilewise
