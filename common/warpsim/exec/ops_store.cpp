#include "warpsim/exec/access.h"

namespace warpsim {

Handler select_store(const MemorySite& site, bool watch) {
  return watch ? access::by_space<true, true>(site) : access::by_space<true, false>(site);
}

}  // namespace warpsim
