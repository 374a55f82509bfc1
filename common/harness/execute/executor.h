// Carries a plan out on a backend.

#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "harness/execute/addresses.h"
#include "harness/execute/backend.h"
#include "harness/execute/execution.h"
#include "harness/execute/plan_order.h"
#include "plan/npy.h"
#include "plan/plan.h"

namespace tilewise {

// A plan made ready to be run again: in order what happens on the device, at the backend's
// addresses.
struct DeviceFill {
  uint64_t address = 0;
  uint8_t value = 0;
  uint64_t bytes = 0;
};
struct DeviceCopy {
  uint64_t target = 0, source = 0, bytes = 0;
};
struct DeviceLaunch {
  warpsim::Launch launch;
  size_t kernel = 0;  // index into Execution::kernels
};
// Data from the host: a part of solve's array `matrix` (or of host memory filled by HostRead), or
// fixed bytes.
struct DeviceInput {
  uint64_t address = 0;
  std::string matrix;
  uint64_t offset = 0, bytes = 0;
};
struct DeviceWrite {
  uint64_t address = 0;
  std::vector<std::byte> data;
};
// Data back into host memory from which the plan later sends it to the device again (a DeviceInput
// of that name).
struct HostRead {
  std::string host;
  uint64_t offset = 0, address = 0, bytes = 0;
};
using DeviceAction =
    std::variant<DeviceFill, DeviceCopy, DeviceLaunch, DeviceInput, DeviceWrite, HostRead>;

// Where a part of an output stands on the device when the plan has ended.
struct OutputPart {
  uint64_t address = 0;
  uint64_t offset = 0, bytes = 0;  // within the output
  std::string output;
};

class Executor {
 public:
  // The inputs must have the plan's shapes (throws InputError otherwise). The plan and the backend
  // must outlive this.
  Executor(const plan::Plan& plan, Backend& backend, Matrices inputs);
  // Of the product.
  Executor(const plan::Plan& plan, Backend& backend, Matrix m, Matrix n);

  // Without data, for a backend that samples: nothing is copied, what would have been written
  // counts as written, and there is no output to look at.
  Executor(const plan::Plan& plan, Backend& backend);

  // The student's buffers stay allocated after their free op, so that actions() can be run again.
  void keep_buffers() { keep_buffers_ = true; }

  // Carries out all operations, then looks at outputs and inputs. Throws only HarnessError. To be
  // called once.
  void run();

  // What is known so far; may be called from another thread while run() works.
  Execution snapshot() const;
  // After run(): to be completed by the caller (times).
  Execution& execution() { return execution_; }
  // Begins with the inputs for device signatures, whose buffers are filled before solve starts.
  const std::vector<DeviceAction>& actions() const { return actions_; }
  const std::vector<OutputPart>& output_parts() const { return output_parts_; }
  bool has_input(const std::string& name) const { return inputs_.count(name) != 0; }
  const Matrix& input(const std::string& name) const { return inputs_.at(name); }
  // The kernel that is running now, "" between launches. For messages about one that does not end.
  std::string running() const;

 private:
  using Bytes = std::vector<std::byte>;

  bool is_input_only(const std::string& name) const;
  bool prepare();  // modules, solve's buffers; false with status set if that fails
  void place(const plan::Buffer& buffer);
  // Writes segments to the device, one after the other.
  // False: the plan ends there.
  bool put_map(const plan::BufferMap& place, std::span<std::byte> bytes);
  bool send(uint64_t address, const std::vector<plan::Segment>& segments,
            uint64_t alignment_offset);

  // One operation. False ends the plan; status and message are set then.
  bool carry_out(const plan::Malloc& op);
  bool carry_out(const plan::Free& op);
  bool carry_out(const plan::CopyToDevice& op);
  bool carry_out(const plan::CopyToHost& op);
  bool carry_out(const plan::CopyOnDevice& op);
  bool carry_out(const plan::Memset& op);
  bool carry_out(const plan::SymbolWrite& op);
  bool carry_out(const plan::SetAttribute& op);
  bool carry_out(const plan::SetHeap& op);
  bool carry_out(const plan::SetStack& op);
  bool carry_out(const plan::Launch& op);
  // What only orders work.
  template <class Op>
  bool carry_out(const Op&) {
    return true;
  }
  bool carry_out(const plan::ApiError& op);
  bool carry_out(const plan::Unsupported& op);

  bool stop(Status status, std::string message);
  void limit_refused(const std::string& asked);
  void report(const warpsim::Diagnostic& found);
  size_t kernel_entry(const LaunchOutcome& outcome);
  void note(const LaunchOutcome& outcome);
  bool judge(const warpsim::LaunchReport& report);
  void inspect();

  const plan::Plan& plan_;
  Backend& backend_;
  bool keep_buffers_ = false;
  bool has_data_ = true;
  Matrices inputs_;                    // as given
  std::map<std::string, Bytes> host_;  // solve's arrays on the host as the plan leaves them
  std::vector<int> modules_;           // handles
  Addresses addresses_;
  PlanOrder order_;
  std::vector<bool> alive_;  // by buffer: has memory on the backend
  std::vector<DeviceAction> actions_;
  std::vector<OutputPart> output_parts_;
  // Host arrays other than the inputs that the plan copies to the device.
  std::set<std::string> sent_again_;

  mutable std::mutex mutex_;  // guards the two below while run() works
  Execution execution_;
  std::string running_;
};

}  // namespace tilewise
