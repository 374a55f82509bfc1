#include "harness/record/record_file.h"

#include <nlohmann/json.hpp>

#include "harness/plan/files.h"

namespace tilewise::record {

void write_record(const std::string& path, const std::vector<std::pair<Case, Outcome>>& cases,
                  const std::vector<std::string>& targets) {
  using Json = nlohmann::ordered_json;
  Json json = {
      {"schema", "tilewise.record/1"}, {"cases", Json::array()}, {"modules", Json::array()}};
  for (const auto& [one, outcome] : cases) {
    json["cases"].push_back({{"id", one.id},
                             {"status", outcome.status},
                             {"message", outcome.message},
                             {"seconds", outcome.seconds}});
  }
  for (size_t i = 0; i < targets.size(); ++i)
    json["modules"].push_back(
        {{"file", "module" + std::to_string(i) + ".ptx"}, {"target", targets[i]}});
  write_file(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace tilewise::record
