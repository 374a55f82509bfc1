#include "cli/counters.h"

#include "json/json.h"
#include "warpsim/counters.h"

namespace warpsim::cli {

std::string counters_text() {
  using tilewise::Json;
  Json table = Json::array();
  for (const CounterInfo& counter : counter_table()) {
    if (counter.who == CounterInfo::Who::kInternal) continue;
    const std::string nsight = counter.nsight;
    table.push_back({{"name", counter.name},
                     {"unit", counter.unit},
                     {"nsight", nsight.empty() ? Json(nullptr) : Json(nsight)},
                     {"adds", counter.field != nullptr},
                     {"devices", counter.who == CounterInfo::Who::kAlways ? "all" : "transactions"},
                     {"meaning", counter.meaning}});
  }
  return tilewise::json_text(table, 1);
}

}  // namespace warpsim::cli
