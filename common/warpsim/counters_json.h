// The counters by name, in the order of reports, and as JSON.
//
// A header, so that warpsim itself needs no JSON in its interface; Json is nlohmann::ordered_json.

#pragma once

#include "warpsim/device.h"
#include "warpsim/report.h"

namespace warpsim {

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
    {"shared_merged_requests", &Counters::shared_merged_requests},
    {"bank_conflicts", &Counters::bank_conflicts},
    {"barriers", &Counters::barriers},
    {"divergent_branches", &Counters::divergent_branches},
    {"async_requests", &Counters::async_requests},
    {"async_distance", &Counters::async_distance},
};

// Of devices whose rule counts transactions (compute capability 1.3 and 2.0).
inline constexpr CounterName kTransactionNames[] = {
    {"transactions_32", &Counters::transactions_32},
    {"transactions_64", &Counters::transactions_64},
    {"transactions_128", &Counters::transactions_128},
    {"load_transactions", &Counters::load_transactions},
};

// With those and, derived from them, volume_bytes and (where something was loaded) abu.
template <class Json>
Json counters_json(const Counters& counters, CountingRule rule) {
  Json json = Json::object();
  for (const CounterName& counter : kCounterNames) json[counter.name] = counters.*counter.field;
  if (rule == CountingRule::kSectors) return json;
  for (const CounterName& counter : kTransactionNames) json[counter.name] = counters.*counter.field;
  json["volume_bytes"] = counters.volume_bytes();
  if (counters.load_transactions != 0) json["abu"] = counters.abu();
  return json;
}

// null where all blocks were executed.
template <class Json>
Json sampling_json(const Sampling& s) {
  if (!s.used) return nullptr;
  return {{"exact", s.exact},
          {"why", s.why},
          {"blocks", s.blocks},
          {"executed", s.executed},
          {"classes", s.classes},
          {"checked", s.checked},
          {"relative_error", s.relative_error}};
}

}  // namespace warpsim
