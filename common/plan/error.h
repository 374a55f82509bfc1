// The ways in which the harness gives up. Each carries one sentence: what is wrong, where, what to
// do next. What a student gets wrong in CUDA is none of them: it is a result.

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

// Our own side cannot go on: no GPU, a full disk. The program ends with status 3.
class HarnessError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A plan that breaks its format or cannot be meant: whoever recorded it, or the submission whose
// code ran beside the recorder, damaged it. The program ends with status 4.
class PlanError : public HarnessError {
 public:
  using HarnessError::HarnessError;
};

}  // namespace tilewise
