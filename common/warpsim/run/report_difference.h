// Whether two reports of one launch say the same.

#pragma once

#include <string>

#include "warpsim/report.h"

namespace warpsim {

// The first thing in which they differ, but for the time they took; empty: nothing.
std::string report_difference(const LaunchReport& a, const LaunchReport& b);

}  // namespace warpsim
