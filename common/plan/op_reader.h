// The operations of a plan (part of the plan's reader).

#pragma once

#include <string>
#include <vector>

#include "plan/json_fields.h"
#include "plan/plan.h"

namespace tilewise::plan {

// Reads all operations, checking every reference against what `plan` declares (buffers, modules,
// host arrays). `path` names their array in messages. Throws FieldError.
std::vector<Op> read_ops(const Plan& plan, const Json& array, const std::string& path);

}  // namespace tilewise::plan
