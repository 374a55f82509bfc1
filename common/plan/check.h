// What makes a plan one that a recorder can have written, for the case that was asked for. The
// reader (plan.h) has looked at each field and at each range; this looks at the plan as a whole.
// After it nothing that carries a plan out needs to look again.

#pragma once

#include <cstdint>
#include <string>

#include "plan/plan.h"

namespace tilewise::plan {

// Of all host arrays together: more than a recorder's process may have.
constexpr uint64_t kMostHostBytes = uint64_t{4} << 30;
constexpr uint64_t kLargestBuffer = uint64_t{1} << 40;  // bytes; all of a device's addresses

// The case that a plan was asked for.
struct Case {
  std::string id;
  Signature signature = Signature::kSquareDevice;
  uint32_t j = 0, k = 0, l = 0;  // of the product
  std::string sizes;             // of another signature
};

// "w64:64x64x64", "n1000:x=1000,sum=1,n=1000". Throws std::invalid_argument with a sentence.
Case case_of(const Signature& signature, const std::string& text);

// solve's arrays are there, once each, in the place that the signature says, as large as their
// shapes, and no other buffer or host array takes their part; buffers do not overlap; every
// operation finds its buffers allocated. Throws FieldError.
void check(const Plan& plan);

// Besides, that the plan is of this case. Throws PlanError with one sentence.
void check_case(const Plan& plan, const Case& wanted);

}  // namespace tilewise::plan
