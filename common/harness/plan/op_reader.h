// The operations of a plan (part of the plan's reader).

#pragma once

#include <string>

#include "harness/plan/json_fields.h"
#include "harness/plan/plan.h"

namespace tilewise::plan {

// Reads one operation, checking every reference against what `plan` declares (buffers, modules,
// host arrays). `path` names the operation in messages. Throws FieldError.
Op read_op(const Plan& plan, const Json& json, const std::string& path);

}  // namespace tilewise::plan
