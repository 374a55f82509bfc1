#include "warpsim/exec/access.h"

namespace warpsim {

Handler select_load(const MemorySite& site, bool watch) {
  return watch ? access::by_space<false, true>(site) : access::by_space<false, false>(site);
}

}  // namespace warpsim
