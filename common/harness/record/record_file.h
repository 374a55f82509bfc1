// Where the recorded cases go: files in a folder, or lines on a stream.

#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "harness/record/case_runner.h"

namespace tilewise::record {

class Sink {
 public:
  virtual ~Sink() = default;
  virtual void begin() {}
  // A case has ended. Modules come once, before the first case that has any.
  virtual void add_modules(const std::vector<Module>& modules) = 0;
  virtual void add_case(const Case& one, const Outcome& outcome) = 0;
};

// ID.plan.json, moduleN.ptx and record.json, which is written anew after each case, so that a
// caller who stops the recorder has what came before. Throws HarnessError.
class FolderSink : public Sink {
 public:
  explicit FolderSink(std::string folder) : folder_(std::move(folder)) {}
  void add_modules(const std::vector<Module>& modules) override;
  void add_case(const Case& one, const Outcome& outcome) override;

 private:
  std::string folder_;
  std::vector<std::pair<Case, Outcome>> cases_;
  std::vector<std::string> targets_;
};

// JSON, one object a line: {"schema": "tilewise.recording/1"} before any code of the submission
// runs, {"module": "module0.ptx", "target": "sm_90", "ptx": "..."}, {"case": "w64", "status": "ok",
// "reason": "", "subject": "", "message": "", "seconds": 0.01, "plan": "..."}. It takes the
// process's standard output for itself.
class StreamSink : public Sink {
 public:
  StreamSink();
  ~StreamSink() override;
  void begin() override;
  void add_modules(const std::vector<Module>& modules) override;
  void add_case(const Case& one, const Outcome& outcome) override;

 private:
  std::FILE* file_;
};

}  // namespace tilewise::record
