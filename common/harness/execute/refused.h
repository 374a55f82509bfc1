// The report of a launch that was refused.

#pragma once

#include "warpsim/model/launch_limits.h"
#include "warpsim/report.h"

namespace tilewise {

// Status kBadLaunch and one launch-config diagnostic, which says which limit is broken.
warpsim::LaunchReport refused(const warpsim::Launch& launch, const warpsim::KernelLimits& kernel,
                              const warpsim::BrokenLimit& limit);

}  // namespace tilewise
