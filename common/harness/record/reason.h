// The names of TilewiseRecordReason, as they stand in recordings; grader/running/record.py knows
// the same ones (a test holds them together).

#pragma once

#include <string>
#include <vector>

#include "cudart/record_control.h"

namespace tilewise::record {

using Reason = TilewiseRecordReason;

// "" for kNone and for whatever is none: a submission may have written it.
const char* to_string(Reason reason);
std::vector<std::string> reason_names();

}  // namespace tilewise::record
