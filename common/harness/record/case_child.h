// The life of a case's own process: loads the submission, calls solve, hands over what was
// recorded.

#pragma once

#include "harness/record/case_runner.h"

namespace tilewise::record {

// What the child tells its parent, in memory both have. A submission may write into it: whoever
// reads it expects anything.
struct Shared {
  bool is_done;   // solve returned and the parcel is sent, or `status` says why not
  bool in_solve;  // otherwise the submission was still being loaded
  char status[16];
  TilewiseRecordFailure failure;  // unless solve returned
  uint64_t crash;  // where a signal met the submission, as an offset in its file; 0: not known
};

// Never returns. The modules and the plan go to `parcel`, what the submission prints to `words`
// (below 0: to this program's own output).
[[noreturn]] void record_case(const Submission& submission, const Case& one, Shared* shared,
                              int parcel, int words);

}  // namespace tilewise::record
