// Runs solve for one case in a process of its own, so that nothing a submission does, in solve or
// while it is loaded, can reach the recorder or another case.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/record/parcel.h"
#include "harness/record/reason.h"
#include "plan/check.h"

namespace tilewise::record {

using Case = plan::Case;

struct Submission {
  std::string path;    // shared object
  std::string cudart;  // libcudart.so.N to load before it
  plan::Signature signature;
  double seconds = 0;      // for each case; 0: any
  bool is_silent = false;  // what it prints is kept apart, see Outcome::printed
  bool is_alone = false;   // all processes that can be seen are ours: what a case leaves is ended
};

struct Outcome {
  // ok, crashed, exited, timeout, missing-solve, error; "failed": our own failure.
  std::string status = "ok";
  Reason reason = Reason::kNone;  // why there is no plan: what to decide by
  std::string subject;            // whom the reason is about: a symbol, a call, an array
  std::string message;            // one sentence unless status is ok
  double seconds = 0;
  Parcel parcel;        // if status is ok
  std::string printed;  // the first kMostPrintedBytes; whatever the submission says
  uint64_t crash = 0;   // see Shared
};

constexpr size_t kMostPrintedBytes = 8192;

Outcome run_case(const Submission& submission, const Case& one);

}  // namespace tilewise::record
