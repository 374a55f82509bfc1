#include "warpsim/counters.h"

namespace warpsim {

uint64_t Counters::volume_bytes() const {
  return 32 * transactions_32 + 64 * transactions_64 + 128 * transactions_128;
}

double Counters::abu() const {
  if (load_transactions == 0) return 0;
  return double(load_used_128ths) / 128 / double(load_transactions);
}

void Counters::add(const Counters& other) {
#define WARPSIM_COUNTER(name, unit, nsight, who, meaning) name += other.name;
#define WARPSIM_DERIVED(name, unit, who, meaning)
#include "warpsim/counters.inc"
}

std::span<const CounterInfo> counter_table() {
  using enum CounterInfo::Who;
  static constexpr CounterInfo kTable[] = {
#define WARPSIM_COUNTER(name, unit, nsight, who, meaning) \
  {#name, unit, nsight, meaning, who, &Counters::name},
#define WARPSIM_DERIVED(name, unit, who, meaning) {#name, unit, "", meaning, who, nullptr},
#include "warpsim/counters.inc"
  };
  return kTable;
}

}  // namespace warpsim
