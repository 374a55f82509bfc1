#include "warpsim/run/helpers.h"

#include <utility>

namespace warpsim {

struct Helpers::Start {
  Helpers* helpers;
  unsigned index;
  cpu_set_t allowed;
  bool was_placed;
};

cpu_set_t first_processors(const cpu_set_t& allowed, int callers, unsigned count, unsigned index) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  unsigned next = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (cpu == callers || !CPU_ISSET(cpu, &allowed)) continue;
    if (next++ % count == index) CPU_SET(cpu, &mine);
  }
  return mine;
}

void* Helpers::begin(void* given) {
  const Start& start = *static_cast<const Start*>(given);
  if (start.was_placed) sched_setaffinity(0, sizeof start.allowed, &start.allowed);
  start.helpers->work_(start.index);
  return nullptr;
}

Helpers::Helpers(unsigned count, std::function<void(unsigned)> work) : work_(std::move(work)) {
  if (count == 0) return;
  starts_.reserve(count);
  threads_.reserve(count);
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const int here = sched_getcpu();
  const bool is_known = here >= 0 && sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  for (unsigned i = 0; i < count; ++i) {
    starts_.push_back(std::make_unique<Start>(Start{this, i, allowed, false}));
    Start& start = *starts_.back();
    pthread_t thread;
    if (is_known) {
      const cpu_set_t first = first_processors(allowed, here, count, i);
      pthread_attr_t attributes;
      start.was_placed = CPU_COUNT(&first) != 0 && pthread_attr_init(&attributes) == 0;
      if (start.was_placed) {
        start.was_placed = pthread_attr_setaffinity_np(&attributes, sizeof first, &first) == 0;
        const bool began =
            start.was_placed && pthread_create(&thread, &attributes, &begin, &start) == 0;
        pthread_attr_destroy(&attributes);
        if (began) {
          threads_.push_back(thread);
          continue;
        }
        start.was_placed = false;
      }
    }
    if (pthread_create(&thread, nullptr, &begin, &start) != 0) return;
    threads_.push_back(thread);
  }
}

Helpers::~Helpers() {
  wait();
}

void Helpers::wait() {
  for (pthread_t thread : threads_) pthread_join(thread, nullptr);
  threads_.clear();
}

}  // namespace warpsim
