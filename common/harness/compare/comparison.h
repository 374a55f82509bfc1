// Robust timing: a submission against other programs in one process, in turns, on new data each
// round.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/compare/candidate.h"
#include "harness/execute/nvml.h"

namespace tilewise {

// What of M and N is multiplied: they themselves, or rounded to bf16, or on tensor cores pieces
// whose sum they are.
enum class Factors { kFloat, kBf16, kSplit };

// How many times as fast as with float multiply-adds a product can be made: for the least time.
double rate_over_float(Factors factors);

struct ComparisonSettings {
  uint32_t rounds = 30;  // timed rounds
  double seconds = 20;   // no new round starts after this, once there are kFewestRounds
  uint64_t seed = 0;     // of data, order of verification: not known to those timed
  bool with_cublas = false;
  Factors factors = Factors::kFloat;
  // Told whose turn it is, by name, before anything of it runs; for messages about a kernel that
  // does not end.
  std::function<void(const std::string&)> turn = [](const std::string&) {};
};
constexpr uint32_t kFewestRounds = 6;  // below, a median has no confidence interval

// One program's share.
struct Contender {
  std::string name;                  // "submission", "reference", "baseline", "cublas"
  Status status = Status::kOk;       // of the first, checked run; others than kOk are not timed
  std::string message;               // why it was not timed
  std::vector<FoundFault> faults;    // of the checked run
  std::vector<KernelEntry> kernels;  // with times
  std::vector<double> rounds_ms;     // by round
  std::optional<Milliseconds> time_ms;
  uint32_t verified = 0, wrong = 0;  // rounds whose output was looked at; of these not right
  double worst = 0;                  // largest error over its bound
  std::string first_wrong;           // "round 3: P[1][2] is ..."
};

struct ClockRange {
  uint32_t lowest = 0, highest = 0;  // MHz
};

struct Comparison {
  std::vector<Contender> contenders;  // the submission first
  // Submission's time over the named contender's, round by round.
  std::map<std::string, Milliseconds> ratios;
  uint32_t rounds = 0;
  // 2 j k l operations at the GPU's highest clock, every lane or tensor core busy: nothing is
  // faster.
  double floor_ms = 0;
  std::string cublas;  // version, or why there is none
  std::optional<ClockRange> sm_clock, memory_clock;
  double lowest_watts = 0, highest_watts = 0;
  uint64_t throttle_reasons = 0;  // NVML's bits, of all rounds
};

// `plans`: (name, plan), the submission first; all of one shape. Throws HarnessError.
//
// Each round: new M and N on the GPU; then every contender in turn, in the next round in the
// opposite order (A B B A), so that a drift of clocks or temperature hits all alike. Before each
// run its output is poisoned and the L2 cache is swept. The outputs of the first round and of about
// one in eight others are checked on the host.
Comparison compare(GpuBackend& backend,
                   const std::vector<std::pair<std::string, const plan::Plan*>>& plans,
                   const ComparisonSettings& settings);

// The result file of a comparison, schema "tilewise.comparison/1".
std::string to_text(const Comparison& comparison, const plan::Plan& submission,
                    const std::string& device, const Json& gpu);

}  // namespace tilewise
