// The two ways in which the harness gives up. Each carries one sentence: what is wrong, where, what
// to do next. A student's fault is neither: it is a result.

#pragma once

#include <stdexcept>
#include <string>

namespace tilewise {

// Arguments or input files (matrices, resources) that cannot be used. The program ends with
// status 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Our own side cannot go on: a plan that breaks its format, no GPU, a full disk. The program ends
// with status 3.
class HarnessError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tilewise
