#include "warpsim/trace/recording.h"

#include <algorithm>

namespace warpsim::trace {

LaunchTrace& Recording::begin_launch(uint64_t number) {
  LaunchTrace& launch = launches_.emplace_back();
  launch.number = number;
  return launch;
}

void Recording::end_launch(const LaunchReport& report) {
  LaunchTrace& launch = launches_.back();
  launch.report = report;
  launch.is_whole = launch.is_whole && !is_cut() && report.status == LaunchStatus::kOk;
  launch.moments = find_moments(*this, launch);
}

int32_t Recording::file(const std::string& name) {
  auto known = std::find(files_.begin(), files_.end(), name);
  if (known == files_.end()) known = files_.insert(files_.end(), name);
  return static_cast<int32_t>(known - files_.begin());
}

bool Recording::take_event() {
  if (events_ < settings_.most_events) {
    ++events_;
    return true;
  }
  if (cut_.empty()) {
    const uint64_t number = launches_.back().number;
    cut_ = "The trace ends after " + std::to_string(events_) + " instructions, in launch " +
           std::to_string(number + 1) +
           ": choose fewer blocks or lines, a smaller case, or a higher limit.";
  }
  return false;
}

const char* to_string(Space space) {
  switch (space) {
    case Space::kGlobal:
      return "global";
    case Space::kShared:
      return "shared";
    case Space::kLocal:
      return "local";
    case Space::kConstant:
      return "constant";
  }
  return "";
}

}  // namespace warpsim::trace
