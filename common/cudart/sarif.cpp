#include "cudart/sarif.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "json/json.h"
#include "warpsim/rules.h"

namespace warpsim::cudart {

namespace {

namespace fs = std::filesystem;
using tilewise::Json;

constexpr char kSchema[] =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
constexpr char kRoot[] = "%SRCROOT%";
constexpr char kFingerprint[] = "warpsim/v1";

fs::path root_of(const std::string& named) {
  std::error_code unknown;
  if (!named.empty()) return fs::weakly_canonical(named, unknown);
  const fs::path here = fs::current_path(unknown);
  for (fs::path folder = here; !folder.empty(); folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", unknown)) return folder;
    if (folder == folder.parent_path()) break;
  }
  return here;
}

// As RFC 3986 wants a path of a URI.
std::string escaped(const std::string& path) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string uri;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (is_letter || (c >= '0' && c <= '9') ||
        std::string_view("-._~/").find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += '%';
      uri += kDigits[byte >> 4];
      uri += kDigits[byte & 15];
    }
  }
  return uri;
}

Json artifact(const std::string& file, const fs::path& root) {
  std::error_code unknown;
  fs::path path = file;
  if (path.is_relative()) path = fs::current_path(unknown) / path;
  path = fs::weakly_canonical(path, unknown);
  const fs::path within = path.lexically_relative(root);
  if (!within.empty() && *within.begin() != "..")
    return {{"uri", escaped(within.generic_string())}, {"uriBaseId", kRoot}};
  return {{"uri", "file://" + escaped(path.generic_string())}};
}

Json place(const Party& party, const fs::path& root) {
  return {{"physicalLocation",
           {{"artifactLocation", artifact(party.file, root)},
            {"region", {{"startLine", party.line}}}}}};
}

const char* level(Severity severity) {
  return severity == Severity::kError     ? "error"
         : severity == Severity::kWarning ? "warning"
                                          : "note";
}

// Of a code, where its findings have several.
Severity usual_severity(Code code) {
  if (code == Code::kMemoryLeak) return Severity::kNote;
  return code == Code::kUncheckedLaunch ? Severity::kWarning : Severity::kError;
}

Json rules_json() {
  Json list = Json::array();
  for (const Rule& rule : rules()) {
    const std::string id = to_string(rule.code);
    list.push_back(
        {{"id", id},
         {"name", id},
         {"shortDescription", {{"text", rule.what}}},
         {"fullDescription", {{"text", rule.what}}},
         {"help", {{"text", rule.help}, {"markdown", rule.help}}},
         {"defaultConfiguration", {{"level", level(usual_severity(rule.code))}}},
         {"properties", {{"tags", {"cuda", "correctness"}}, {"precision", "very-high"}}}});
  }
  return list;
}

// Of a text, the same on every machine.
std::string hash_of(const std::string& text) {
  uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

std::string who(const Diagnostic& d) {
  auto triple = [](const std::array<uint32_t, 3>& v) {
    return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) +
           ")";
  };
  if (d.kernel.empty()) return "";
  std::string text = " In " + d.kernel;
  if (d.line != 0 && d.code != Code::kUncheckedLaunch)
    text += ", block " + triple(d.block) + " thread " + triple(d.thread);
  if (d.count > 1) text += "; " + std::to_string(d.count) + " times";
  return text + ".";
}

// " And in 3 more buffers: ..."
std::string also(const SessionDiagnostic& entry) {
  const std::string more = more_arrays_text(entry);
  return more.empty() ? "" : " A" + more.substr(1) + ".";
}

Json result_json(const SessionDiagnostic& entry, const std::string& program, const fs::path& root) {
  const Diagnostic& d = entry.diagnostic;
  std::string text = d.message;
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = char(text[0] - 'a' + 'A');
  if (!text.empty() && text.back() != '.') text += '.';
  Json result = {{"ruleId", to_string(d.code)},
                 {"ruleIndex", size_t(d.code)},
                 {"level", level(d.severity)},
                 {"message", {{"text", text + who(d) + also(entry)}}}};
  Json places = Json::array();
  // Readers want a place of each: the program, where no line is known.
  Party where = d;
  if (where.line == 0) where = {.file = program, .line = 1};
  places.push_back(place(where, root));
  result["locations"] = places;
  if (d.other && d.other->line != 0) {
    Json other = place(*d.other, root);
    other["id"] = 1;
    other["message"] = {{"text", "the other access"}};
    result["relatedLocations"] = Json::array({other});
  }
  result["partialFingerprints"] = {
      {kFingerprint, hash_of(std::string(to_string(d.code)) + '\n' + to_string(d.cause) + '\n' +
                             d.kernel + '\n' + d.array + '\n' + tilewise::json_text(places[0]))}};
  result["properties"] = {{"kernel", d.kernel}, {"cause", to_string(d.cause)}, {"count", d.count}};
  return result;
}

Json document(const Json& results, const Json& notifications, const fs::path& root) {
  Json run = {
      {"tool",
       {{"driver", {{"name", "warpsim"}, {"version", WARPSIM_VERSION}, {"rules", rules_json()}}}}},
      {"invocations", Json::array({{{"executionSuccessful", notifications.empty()},
                                    {"toolExecutionNotifications", notifications}}})},
      {"originalUriBaseIds",
       {{kRoot, {{"uri", "file://" + escaped(root.generic_string()) + "/"}}}}},
      {"columnKind", "utf16CodeUnits"},
      {"results", results}};
  return {{"$schema", kSchema}, {"version", "2.1.0"}, {"runs", Json::array({run})}};
}

std::string text_of(const Json& json) {
  return tilewise::json_text(json, 1) + "\n";
}

}  // namespace

std::string to_sarif(const SessionReport& report, const std::string& program,
                     const std::string& root_name) {
  const fs::path root = root_of(root_name);
  Json results = Json::array(), notifications = Json::array();
  for (const SessionDiagnostic& entry : report.diagnostics())
    results.push_back(result_json(entry, program, root));
  for (const std::string& sentence : report.unsupported())
    notifications.push_back(
        {{"level", "error"},
         {"message", {{"text", fs::path(program).filename().string() + ": " + sentence}}}});
  return text_of(document(results, notifications, root));
}

std::string merged_sarif(const std::vector<std::string>& texts) {
  Json all, results = Json::array(), notifications = Json::array();
  std::set<std::string> known;
  try {
    for (const std::string& text : texts) {
      Json one = tilewise::json_of(text);
      for (const Json& run : one.at("runs")) {
        if (run.at("tool").at("driver").at("name") != "warpsim")
          throw std::runtime_error("it is not by warpsim");
        for (const Json& result : run.at("results")) {
          const Json& mark = result.at("partialFingerprints").at(kFingerprint);
          if (known.insert(mark.get<std::string>()).second) results.push_back(result);
        }
        for (const Json& note : run.at("invocations").at(0).at("toolExecutionNotifications")) {
          if (known.insert(tilewise::json_text(note)).second) notifications.push_back(note);
        }
      }
      if (all.is_null()) all = std::move(one);
    }
    if (all.is_null()) all = document(results, notifications, root_of(""));
    Json& run = all.at("runs").at(0);
    run["results"] = results;
    run["invocations"] = Json::array({{{"executionSuccessful", notifications.empty()},
                                       {"toolExecutionNotifications", notifications}}});
  } catch (const Json::exception&) {
    throw std::runtime_error("it is no SARIF that `warpsim run --sarif` has written");
  }
  return text_of(all);
}

}  // namespace warpsim::cudart
