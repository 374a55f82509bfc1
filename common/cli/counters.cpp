#include "cli/counters.h"

#include <nlohmann/json.hpp>

#include "warpsim/counters.h"

namespace warpsim::cli {

std::string counters_text() {
  using Json = nlohmann::ordered_json;
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
  return table.dump(1);
}

}  // namespace warpsim::cli
