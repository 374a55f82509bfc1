#include "harness/record/reason.h"

#include <iterator>

namespace tilewise::record {

namespace {

// In the order of the enumeration.
constexpr const char* kNames[] = {"",
                                  "exception",
                                  "segmentation-fault",
                                  "device-pointer",
                                  "input-written",
                                  "output-passed",
                                  "stack-overflow",
                                  "division-by-zero",
                                  "abort",
                                  "signal",
                                  "exit",
                                  "time-limit",
                                  "not-provided",
                                  "too-much",
                                  "no-memory",
                                  "device-code",
                                  "no-plan",
                                  "damaged",
                                  "undefined-symbol",
                                  "missing-library",
                                  "not-loadable",
                                  "no-solve"};
static_assert(std::size(kNames) == size_t(Reason::kNoSolve) + 1);

}  // namespace

const char* to_string(Reason reason) {
  const auto index = static_cast<size_t>(reason);
  return index < std::size(kNames) ? kNames[index] : "";
}

std::vector<std::string> reason_names() {
  return {std::begin(kNames), std::end(kNames)};
}

}  // namespace tilewise::record
