// Copies that the host does not wait for, in record mode: which read-backs have not arrived, and
// whether pinned memory changes while a copy may still read it.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cudart/backend.h"
#include "plan/plan.h"
#include "warpsim/order/stream_order.h"

namespace warpsim::cudart {

class HostUse {
 public:
  StreamOrder& order() { return order_; }

  // New work of a stream that nothing on the host depends on.
  void add_work(uint32_t stream);
  // A copy to the host, the read-back `number`, is early; a later copy of `stream` comes after it.
  void add_read_back(size_t number, uint32_t stream);
  bool comes_after(uint32_t stream, size_t number) const;
  // A copy that reads pinned memory of the host when its turn has come.
  void add_source(const void* memory, uint64_t bytes, const tilewise::plan::EarlyUse& use);

  // The host has waited. Read-backs that it has waited for are handed to `arrive`. Returns the uses
  // of memory that changed under a copy.
  std::vector<tilewise::plan::EarlyUse> waited(HostWait what, uint32_t id,
                                               const std::function<void(size_t)>& arrive);
  // Around whatever the recorder itself writes to the host's memory.
  std::vector<tilewise::plan::EarlyUse> changed();
  void accept_contents();

 private:
  struct Pending {
    size_t number;
    StreamPoint point;
  };
  struct Source {
    const void* memory;
    uint64_t bytes, hash;
    StreamPoint point;
    tilewise::plan::EarlyUse use;
  };

  StreamOrder order_;
  std::vector<Pending> pending_;
  std::vector<Source> sources_;
};

}  // namespace warpsim::cudart
