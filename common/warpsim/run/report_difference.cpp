#include "warpsim/run/report_difference.h"

#include <algorithm>

namespace warpsim {

namespace {

std::string counter_difference(const Counters& a, const Counters& b) {
  const std::pair<const char*, uint64_t Counters::*> counters[] = {
      {"instructions", &Counters::instructions},
      {"fma_lanes", &Counters::fma_lanes},
      {"global_load_requests", &Counters::global_load_requests},
      {"global_load_sectors", &Counters::global_load_sectors},
      {"global_store_requests", &Counters::global_store_requests},
      {"global_store_sectors", &Counters::global_store_sectors},
      {"shared_load_requests", &Counters::shared_load_requests},
      {"shared_load_wavefronts", &Counters::shared_load_wavefronts},
      {"shared_store_requests", &Counters::shared_store_requests},
      {"shared_store_wavefronts", &Counters::shared_store_wavefronts}};
  for (const auto& [name, field] : counters) {
    if (a.*field != b.*field)
      return std::string(name) + ": " + std::to_string(a.*field) + " and " +
             std::to_string(b.*field);
  }
  return "another counter";
}

}  // namespace

std::string report_difference(const LaunchReport& a, const LaunchReport& b) {
  if (a.status != b.status || a.cuda_error != b.cuda_error || a.message != b.message)
    return "how the launch ended: \"" + a.message + "\" and \"" + b.message + "\"";
  if (a.lines.size() != b.lines.size()) return "the lines that have counters";
  for (size_t i = 0; i < a.lines.size(); ++i) {
    if (a.lines[i].file != b.lines[i].file || a.lines[i].line != b.lines[i].line)
      return "the lines that have counters";
    if (a.lines[i].counters != b.lines[i].counters)
      return "line " + std::to_string(a.lines[i].line) + ", " +
             counter_difference(a.lines[i].counters, b.lines[i].counters);
  }
  if (a.counters != b.counters) return counter_difference(a.counters, b.counters);
  for (size_t i = 0; i < std::min(a.diagnostics.size(), b.diagnostics.size()); ++i) {
    if (!(a.diagnostics[i] == b.diagnostics[i]))
      return "finding " + std::to_string(i + 1) + " of line " +
             std::to_string(a.diagnostics[i].line);
  }
  return a.diagnostics.size() == b.diagnostics.size() ? "" : "the number of findings";
}

}  // namespace warpsim
