#include "harness/record/record_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "json/json.h"
#include "plan/error.h"
#include "plan/files.h"

namespace tilewise::record {

namespace {

std::string module_name(size_t index) {
  return "module" + std::to_string(index) + ".ptx";
}

}  // namespace

void FolderSink::add_modules(const std::vector<Module>& modules) {
  for (const Module& module : modules) {
    write_file(folder_ + "/" + module_name(targets_.size()), module.ptx);
    targets_.push_back(module.target);
  }
}

void FolderSink::add_case(const Case& one, const Outcome& outcome) {
  if (outcome.status == "ok")
    write_file(folder_ + "/" + one.id + ".plan.json", outcome.parcel.plan);
  cases_.emplace_back(one, outcome);
  cases_.back().second.parcel = {};
  Json json = {
      {"schema", "tilewise.record/1"}, {"cases", Json::array()}, {"modules", Json::array()}};
  for (const auto& [known, how] : cases_) {
    json["cases"].push_back({{"id", known.id},
                             {"status", how.status},
                             {"reason", to_string(how.reason)},
                             {"subject", how.subject},
                             {"message", how.message},
                             {"seconds", how.seconds}});
  }
  for (size_t i = 0; i < targets_.size(); ++i)
    json["modules"].push_back({{"file", module_name(i)}, {"target", targets_[i]}});
  write_file(folder_ + "/record.json", json_text(json, 1) + "\n");
}

StreamSink::StreamSink() {
  int channel = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
  int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  file_ = channel < 0 ? nullptr : fdopen(channel, "w");
  if (!file_ || dup2(nowhere, STDOUT_FILENO) < 0)
    throw HarnessError("standard output cannot be written to.");
}

StreamSink::~StreamSink() {
  std::fclose(file_);
}

void StreamSink::begin() {
  std::fputs("{\"schema\":\"tilewise.recording/1\"}\n", file_);
  std::fflush(file_);
}

void StreamSink::add_modules(const std::vector<Module>& modules) {
  size_t index = 0;
  for (const Module& module : modules) {
    Json json = {{"module", module_name(index++)}, {"target", module.target}, {"ptx", module.ptx}};
    std::fputs((json_text(json) + "\n").c_str(), file_);
  }
}

void StreamSink::add_case(const Case& one, const Outcome& outcome) {
  Json json = {{"case", one.id},
               {"status", outcome.status},
               {"reason", to_string(outcome.reason)},
               {"subject", outcome.subject},
               {"message", outcome.message},
               {"seconds", outcome.seconds},
               {"printed", outcome.printed}};
  if (outcome.crash != 0) json["call"] = outcome.crash;
  if (outcome.status == "ok") json["plan"] = outcome.parcel.plan;
  std::fputs((json_text(json) + "\n").c_str(), file_);
  std::fflush(file_);
}

}  // namespace tilewise::record
