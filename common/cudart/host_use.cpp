#include "cudart/host_use.h"

#include <string_view>

namespace warpsim::cudart {

namespace {

uint64_t hash_of(const void* memory, uint64_t bytes) {
  return std::hash<std::string_view>()({static_cast<const char*>(memory), bytes});
}

}  // namespace

void HostUse::add_work(uint32_t stream) {
  StreamClock before;
  order_.add_work(stream, &before);
}

void HostUse::add_read_back(size_t number, uint32_t stream) {
  StreamClock before;
  pending_.push_back({number, order_.add_work(stream, &before)});
}

bool HostUse::comes_after(uint32_t stream, size_t number) const {
  StreamOrder order = order_;
  StreamClock before;
  order.add_work(stream, &before);
  for (const Pending& copy : pending_) {
    if (copy.number == number) return has_ended(before, copy.point);
  }
  return true;
}

void HostUse::add_source(const void* memory, uint64_t bytes, const tilewise::plan::EarlyUse& use) {
  StreamClock before;
  const StreamPoint point = order_.add_work(use.stream, &before);
  sources_.push_back({memory, bytes, hash_of(memory, bytes), point, use});
}

std::vector<tilewise::plan::EarlyUse> HostUse::changed() {
  std::vector<tilewise::plan::EarlyUse> uses;
  std::erase_if(sources_, [&](const Source& source) {
    if (hash_of(source.memory, source.bytes) == source.hash) return false;
    uses.push_back(source.use);
    return true;
  });
  return uses;
}

void HostUse::accept_contents() {
  for (Source& source : sources_) source.hash = hash_of(source.memory, source.bytes);
}

std::vector<tilewise::plan::EarlyUse> HostUse::waited(HostWait what, uint32_t id,
                                                      const std::function<void(size_t)>& arrive) {
  std::vector<tilewise::plan::EarlyUse> uses = changed();
  tell(&order_, what, id);
  std::erase_if(sources_,
                [&](const Source& source) { return has_ended(order_.host(), source.point); });
  std::erase_if(pending_, [&](const Pending& copy) {
    if (!has_ended(order_.host(), copy.point)) return false;
    arrive(copy.number);
    return true;
  });
  accept_contents();
  return uses;
}

}  // namespace warpsim::cudart
