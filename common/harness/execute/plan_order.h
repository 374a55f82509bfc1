// In which order a plan's work may happen on a GPU, which runs streams at once. The executor
// carries operations out one after the other; this says where a program had no right to expect
// that.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "harness/execute/addresses.h"
#include "plan/plan.h"
#include "warpsim/order/stream_work.h"
#include "warpsim/report.h"

namespace tilewise {

class PlanOrder {
 public:
  using Report = std::function<void(const warpsim::Diagnostic&)>;

  // Both must outlive this. `report` is told what is found.
  PlanOrder(const plan::Plan& plan, const Addresses& addresses, Report report);

  // Whether the plan has streams of its own, or launches that may begin early: launches have to say
  // what they touch then.
  bool is_in_doubt() const { return is_in_doubt_; }

  // Operations in the plan's order, when they have been carried out.
  void launched(const plan::Launch& op, const warpsim::LaunchReport& report);
  void wrote_symbol(const plan::SymbolWrite& op, uint64_t address, uint64_t bytes);
  template <class Op>
  void done(const Op&) {}
  void done(const plan::Malloc& op);
  void done(const plan::Free& op);
  void done(const plan::CopyToDevice& op);
  void done(const plan::CopyToHost& op);
  void done(const plan::CopyOnDevice& op);
  void done(const plan::Memset& op);
  void done(const plan::Sync& op);
  void done(const plan::MakeStream& op);
  void done(const plan::RecordEvent& op);
  void done(const plan::WaitForEvent& op);
  void done(const plan::EarlyUse& op);

 private:
  warpsim::Touched range(uint32_t buffer, uint64_t offset, uint64_t bytes, bool writes) const;
  void add(uint32_t stream, const char* operation, uint64_t call,
           std::vector<warpsim::Touched> touched);
  void add(uint32_t stream, warpsim::StreamWork work);

  const plan::Plan& plan_;
  const Addresses& addresses_;
  Report report_;
  bool is_in_doubt_;
  warpsim::StreamWorkLog work_;
};

}  // namespace tilewise
