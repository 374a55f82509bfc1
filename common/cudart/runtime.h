// The runtime's state: one device, its streams and events, the program's registered code, and the
// last error.
//
// There is one Runtime in a process. It is made by the first call and never destroyed, because
// programs call the API from destructors that run after ours would. Every API call holds its lock
// (see call() in api/support.h).

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "cudart/address_map.h"
#include "cudart/arrays.h"
#include "cudart/backend.h"
#include "cudart/callbacks.h"
#include "cudart/capture.h"
#include "cudart/graph.h"
#include "cudart/pools.h"
#include "cudart/registry.h"
#include "cudart/timeline.h"
#include "warpsim/device.h"

namespace warpsim::cudart {

struct Stream {
  uint32_t number = 0;  // 0: the default stream
  unsigned flags = 0;
  int priority = 0;
  // Of cudaStreamSetAttribute, by cudaLaunchAttributeID: kept and given back.
  std::map<int, std::array<std::byte, 64>> attributes;
};

struct Event {
  uint32_t number = 0;
  unsigned flags = 0;
  bool is_recorded = false;
  double time_ms = 0;  // on the Timeline
};

class Runtime {
 public:
  static Runtime& instance();

  std::recursive_mutex& mutex() { return mutex_; }
  const Device& device() const { return device_; }
  Backend& backend() { return *backend_; }
  Registry& registry() { return registry_; }
  AddressMap& addresses() { return addresses_; }
  Timeline& timeline() { return timeline_; }
  Graphs& graphs() { return graphs_; }
  Pools& pools() { return pools_; }
  Arrays& arrays() { return arrays_; }
  Captures& captures() { return captures_; }
  Callbacks& callbacks() { return callbacks_; }
  bool is_recording() const { return is_recording_; }

  // The kernel behind a host function, its module loaded and its parameters known; nullptr and
  // *error if there is none.
  RegisteredKernel* kernel(const void* host_function, Error* error);
  // The variable behind its host shadow, its address known; nullptr and *error if there is none.
  RegisteredVariable* variable(const void* host_variable, Error* error);

  // Loads the module's PTX, once; false if there is none for the device.
  bool load(RegisteredModule* module);

  // Handles. A stream handle may be one of the three special values 0, 1 (legacy) and 2 (per
  // thread).
  Stream* create_stream(unsigned flags, int priority);
  Stream* find_stream(void* handle);  // nullptr: no such stream
  bool destroy_stream(void* handle);
  Event* create_event(unsigned flags);
  Event* find_event(void* handle);
  bool destroy_event(void* handle);

  // Whether a program asks for the first time since it was told the last time that this has ended.
  bool asks_first(HostWait what, uint32_t id) {
    if (asked_.insert({what, id}).second) return true;
    asked_.erase({what, id});
    return false;
  }

  // A fault that ended a kernel becomes visible in the first call after the launch that is no error
  // query, and from then on every call returns it, as in a real context that is lost.
  void kernel_faulted(Error error);
  Error surface_fault();
  Error sticky_error() const { return sticky_; }
  bool has_unseen_fault() const { return pending_ && !sticky_; }
  // cudaDeviceReset: memory, streams, events and the fault are gone. An error where memory is not
  // the program's to free, as M, N and P of a `solve`.
  Error reset();

  // The calling thread's last error.
  Error last_error() const;
  void set_last_error(Error error);
  void clear_last_error();

 private:
  Runtime();
  void show_managed(RegisteredModule* module);

  std::recursive_mutex mutex_;
  Device device_;
  bool is_recording_ = false;
  std::unique_ptr<Backend> backend_;
  Registry registry_;
  AddressMap addresses_;
  Timeline timeline_;
  Graphs graphs_;
  std::set<std::pair<HostWait, uint32_t>> asked_;
  Captures captures_;
  Callbacks callbacks_{*this};
  Pools pools_;
  Arrays arrays_;
  Stream default_stream_;
  std::map<void*, std::unique_ptr<Stream>> streams_;
  std::map<void*, std::unique_ptr<Event>> events_;
  uint32_t streams_made_ = 0, events_made_ = 0;
  Error pending_ = kSuccess;  // a fault that no call has returned yet
  Error sticky_ = kSuccess;
};

// The process's backend, chosen by the environment: TILEWISE_CUDART=record, or live.
std::unique_ptr<Backend> make_live_backend(Runtime& runtime);
std::unique_ptr<Backend> make_record_backend(Runtime& runtime);

// One line on standard error, starting with "warpsim: ".
void say(const std::string& sentence);

}  // namespace warpsim::cudart
