// What a plan left behind: outputs nobody wrote, inputs that changed, and the diagnostics that
// follow.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/execute/execution.h"
#include "plan/npy.h"
#include "plan/plan.h"

namespace tilewise {

// An array of solve's, every element kPoison.
Matrix poisoned(const plan::Plan& plan, const std::string& name);

class Inspection {
 public:
  // Byte by byte. `left` is as long as the matrix.
  void compare_input(const std::string& name, const Matrix& given,
                     const std::vector<std::byte>& left);
  void look_at_output(const std::string& name, const Matrix& left);

  // Adds outputs, modified inputs and the diagnostics no-launch, host-computed, input-modified and
  // unwritten-output. Unwritten output is no diagnostic of its own where something before it
  // explains it: a plan that was stopped, no launch.
  void conclude(const plan::Plan& plan, Execution* execution) const;

 private:
  std::vector<ModifiedInput> modified_;
  std::map<std::string, OutputState> outputs_;
};

}  // namespace tilewise
