// Runs solve for one case in a process of its own, so that nothing a submission does, in solve or
// while it is loaded, can reach the recorder or another case.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewise::record {

struct Case {
  std::string id;
  uint32_t j = 0, k = 0, l = 0;
};

struct Submission {
  std::string path;       // shared object
  std::string cudart;     // libcudart.so.N to load before it
  std::string signature;  // "square-host", "square-device", "rect-device"
  std::string output;     // folder for plans and modules
};

struct Outcome {
  std::string status =
      "ok";             // ok, crashed, exited, missing-solve, error; "failed": our own failure
  std::string message;  // one sentence unless status is ok
  double seconds = 0;
  std::vector<std::string> targets;  // of the modules, in order: "sm_90"
};

// Leaves OUTPUT/ID.plan.json if the status is ok, and OUTPUT/moduleN.ptx.
Outcome run_case(const Submission& submission, const Case& one);

// solve's declaration for a signature, as people write it.
const char* declaration(const std::string& signature);

}  // namespace tilewise::record
