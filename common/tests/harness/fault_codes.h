// What the executor found, as tests compare it.

#pragma once

#include <string>
#include <vector>

#include "harness/execute/execution.h"

namespace tilewise::testing {

using Codes = std::vector<std::string>;

inline Codes codes(const Execution& execution) {
  Codes list;
  for (const FoundFault& fault : execution.faults) list.push_back(to_string(fault.diagnostic.code));
  return list;
}

}  // namespace tilewise::testing
