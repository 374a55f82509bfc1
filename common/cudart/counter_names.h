// The counters by name, in the order of reports.

#pragma once

#include "warpsim/report.h"

namespace warpsim::cudart {

struct CounterName {
  const char* name;
  uint64_t Counters::*field;
};

inline constexpr CounterName kCounterNames[] = {
    {"instructions", &Counters::instructions},
    {"fma_lanes", &Counters::fma_lanes},
    {"global_load_requests", &Counters::global_load_requests},
    {"global_load_sectors", &Counters::global_load_sectors},
    {"global_store_requests", &Counters::global_store_requests},
    {"global_store_sectors", &Counters::global_store_sectors},
    {"shared_load_requests", &Counters::shared_load_requests},
    {"shared_load_wavefronts", &Counters::shared_load_wavefronts},
    {"shared_store_requests", &Counters::shared_store_requests},
    {"shared_store_wavefronts", &Counters::shared_store_wavefronts},
    {"bank_conflicts", &Counters::bank_conflicts},
    {"barriers", &Counters::barriers},
    {"divergent_branches", &Counters::divergent_branches},
};

}  // namespace warpsim::cudart
