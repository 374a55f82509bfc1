// Adds up what the workers of a launch have counted and found.

#pragma once

#include <map>
#include <vector>

#include "warpsim/machine/worker.h"
#include "warpsim/observe/reporter.h"
#include "warpsim/report.h"

namespace warpsim {

class Collector {
 public:
  explicit Collector(const LaunchContext& launch) : launch_(launch) {}
  void add(const Worker& worker);
  void finish(LaunchReport* report);

 private:
  struct Place {
    int32_t file;
    uint32_t line;
    auto operator<=>(const Place&) const = default;
  };
  Counters& at(uint32_t function, uint32_t instruction);
  void add_blocks(const Worker& worker);
  void add_sites(const Worker& worker);

  const LaunchContext& launch_;
  std::map<Place, Counters> lines_;
  std::map<Reporter::Key, Reporter::Found> found_;
  Worker::Stop stopped_;
};

}  // namespace warpsim
