// Collects a worker's findings: one Diagnostic per code and source line, with the first occurrence
// and a count.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "warpsim/finding.h"
#include "warpsim/report.h"

namespace warpsim {

struct LaunchContext;
struct Warp;

class Reporter {
 public:
  // What is told apart at one line: an error and a warning of one code are two findings.
  struct Kind {
    Code code = Code::kTrap;
    Severity severity = Severity::kError;
    Kind(Code c, Severity s = Severity::kError) : code(c), severity(s) {}  // NOLINT: a code is one
    auto operator<=>(const Kind&) const = default;
  };

  explicit Reporter(const LaunchContext* launch = nullptr) : launch_(launch) {}

  // Counts an occurrence. Returns the diagnostic to fill in when it is the first of its code and
  // line, else nullptr. The place, block and thread are filled in already. The first telling
  // occurrence takes the place of one that is not: a race of two warps that of two lanes.
  Diagnostic* add(const Kind& kind, const Warp& w, uint32_t lane, uint32_t function,
                  uint32_t instruction, uint64_t count = 1, bool telling = true);
  // Sets the file and line of an instruction; none where they are not known.
  void set_line(Party* party, uint32_t function, uint32_t instruction) const;

  struct Found {
    Diagnostic diagnostic;
    uint64_t block = 0;
    uint64_t order = 0;
    bool telling = true;
  };
  // Kind, file, line, PTX line where there is no source line.
  using Key = std::tuple<Kind, int32_t, uint32_t, uint32_t>;
  std::map<Key, Found> found;
  uint64_t dropped = 0;

 private:
  const LaunchContext* launch_;
  uint64_t order_ = 0;
  // What was counted last: a fault in a loop comes by the million.
  struct Last {
    Kind kind;
    uint32_t function, instruction;
    Found* found;
  };
  Last last_{Code::kTrap, 0, 0, nullptr};
};

}  // namespace warpsim
