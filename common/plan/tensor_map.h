// Tensor maps in launch plans.

#pragma once

#include "plan/json_fields.h"
#include "plan/plan.h"

namespace tilewise::plan {

constexpr uint32_t kMapAlignment = 64;  // of a CUtensorMap, wherever it lies

Json to_json(const BufferMap& map);
// Reads what to_json() makes, of a plan with `buffers` buffers. Throws FieldError for what no
// driver would have made a map of.
BufferMap read_map(Fields& fields, size_t buffers);

}  // namespace tilewise::plan
