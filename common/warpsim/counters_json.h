// The counters as JSON, by name, in the order of reports.
//
// A header, so that warpsim itself needs no JSON in its interface; Json is tilewise::Json.

#pragma once

#include "warpsim/counters.h"
#include "warpsim/report.h"

namespace warpsim {

// Those that a device with this rule has; abu where something was loaded.
template <class Json>
Json counters_json(const Counters& counters, CountingRule rule) {
  Json json = Json::object();
  for (const CounterInfo& counter : counter_table()) {
    if (counter.field != nullptr && counter.is_in_reports(rule))
      json[counter.name] = counters.*counter.field;
  }
  if (rule == CountingRule::kSectors) return json;
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
