#include "warpsim/trace/json.h"

#include <algorithm>
#include <bit>
#include <fstream>
#include <sstream>

#include "json/json.h"
#include "warpsim/counters_json.h"
#include "warpsim/device.h"
#include "warpsim/finding_json.h"

namespace warpsim::trace {

namespace {

using tilewise::Json;

constexpr size_t kMostTextBytes = 1 << 20;  // of one source file

std::string base64(const unsigned char* bytes, size_t count) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((count + 2) / 3 * 4);
  for (size_t i = 0; i < count; i += 3) {
    const size_t left = std::min<size_t>(count - i, 3);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < left ? bytes[i + k] : 0u);
    for (size_t k = 0; k < 4; ++k) text += k <= left ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

template <class T>
Json column(const std::vector<T>& values) {
  static_assert(std::endian::native == std::endian::little);
  const char* type = std::is_same_v<T, uint8_t>    ? "u8"
                     : std::is_same_v<T, uint16_t> ? "u16"
                     : std::is_same_v<T, uint32_t> ? "u32"
                                                   : "i32";
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  return {{"type", type}, {"data", base64(bytes, values.size() * sizeof(T))}};
}

const char* to_string(CountingRule rule) {
  return rule == CountingRule::kSectors     ? "sectors"
         : rule == CountingRule::kWarpLines ? "warp-lines"
                                            : "half-warp-segments";
}

const char* to_string(LaunchStatus status) {
  switch (status) {
    case LaunchStatus::kOk:
      return "ok";
    case LaunchStatus::kBadLaunch:
      return "bad-launch";
    case LaunchStatus::kFault:
      return "fault";
    case LaunchStatus::kAssert:
      return "assert";
    case LaunchStatus::kTimeout:
      return "timeout";
    case LaunchStatus::kUnsupported:
      return "unsupported";
  }
  return "";
}

Json files_json(const Recording& recording) {
  Json files = Json::array();
  for (const std::string& name : recording.files()) {
    Json text = nullptr;
    std::ifstream file(name, std::ios::binary);
    std::ostringstream content;
    if (file && content << file.rdbuf() && content.str().size() <= kMostTextBytes)
      text = content.str();
    files.push_back({{"name", name}, {"text", std::move(text)}});
  }
  return files;
}

Json arrays_json(const LaunchTrace& launch) {
  Json arrays = Json::array();
  for (const Array& array : launch.arrays) {
    arrays.push_back({{"name", array.name},
                      {"space", trace::to_string(array.space)},
                      {"bytes", array.bytes},
                      {"holds", array.holds},
                      {"type", array.type},
                      {"shape", {array.bytes / array.element_bytes}},
                      {"address", array.address},
                      {"initial", array.is_kept ? column(array.initial) : Json(nullptr)},
                      {"final", array.is_kept ? column(array.final) : Json(nullptr)}});
  }
  return arrays;
}

Json instructions_json(const LaunchTrace& launch) {
  Json instructions = Json::array();
  for (const Instruction& code : launch.instructions) {
    instructions.push_back({{"function", code.function},
                            {"file", code.file},
                            {"line", code.line},
                            {"text", code.text},
                            {"op", code.op},
                            {"kind", code.kind},
                            {"type", code.type},
                            {"elements", code.elements},
                            {"copy", code.copy},
                            {"copies", code.copies},
                            {"loops", code.loops},
                            {"merged_into", code.merged_into},
                            {"times", code.times}});
  }
  return instructions;
}

Json events_json(const LaunchTrace& launch) {
  const Events& events = launch.events;
  Json turns = Json::array();
  for (const auto& depth : events.turns) turns.push_back(column(depth));
  return {{"count", events.count()},
          {"block", column(events.block)},
          {"warp", column(events.warp)},
          {"code", column(events.code)},
          {"active", column(events.active)},
          {"mask", column(events.mask)},
          {"interval", column(events.interval)},
          {"clock", column(events.clock)},
          {"value", column(events.value)},
          {"turns", std::move(turns)}};
}

Json accesses_json(const Accesses& a) {
  return {{"count", a.event.size()},      {"event", column(a.event)},
          {"array", column(a.array)},     {"space", column(a.space)},
          {"kind", column(a.kind)},       {"mask", column(a.mask)},
          {"first", column(a.first)},     {"requests", column(a.requests)},
          {"sectors", column(a.sectors)}, {"wavefronts", column(a.wavefronts)},
          {"ideal", column(a.ideal)}};
}

Json barriers_json(const Barriers& b) {
  return {{"count", b.event.size()},  {"event", column(b.event)}, {"number", column(b.number)},
          {"waits", column(b.waits)}, {"round", column(b.round)}, {"released", column(b.released)}};
}

Json copies_json(const Copies& c) {
  return {{"count", c.event.size()},
          {"event", column(c.event)},
          {"lane", column(c.lane)},
          {"bytes", column(c.bytes)},
          {"read", column(c.read)},
          {"from", column(c.from)},
          {"from_offset", column(c.from_offset)},
          {"to", column(c.to)},
          {"to_offset", column(c.to_offset)},
          {"value", column(c.value)},
          {"committed", column(c.committed)},
          {"arrived", column(c.arrived)}};
}

Json products_json(const Products& p) {
  return {{"count", p.event.size()},
          {"event", column(p.event)},
          {"lane", column(p.lane)},
          {"left", column(p.left)},
          {"left_offset", column(p.left_offset)},
          {"right", column(p.right)},
          {"right_offset", column(p.right_offset)}};
}

Json sums_json(const Sums& s) {
  return {{"count", s.event.size()},      {"event", column(s.event)}, {"lane", column(s.lane)},
          {"element", column(s.element)}, {"first", column(s.first)}, {"terms", column(s.terms)}};
}

Json findings_json(const LaunchTrace& launch) {
  Json findings = Json::array();
  for (size_t i = 0; i < launch.report.diagnostics.size(); ++i) {
    const Moment moment = i < launch.moments.size() ? launch.moments[i] : Moment{};
    Json& one = findings.emplace_back(
        finding_json<Json>(launch.report.diagnostics[i], int64_t(launch.number)));
    one["events"] = {{"at", moment.at},
                     {"lane", moment.lane},
                     {"other", moment.other},
                     {"other_lane", moment.other_lane}};
  }
  return findings;
}

Json lines_json(const Recording& recording, const LaunchTrace& launch, CountingRule rule) {
  const auto& files = recording.files();
  Json lines = Json::array();
  for (const LineCounters& line : launch.report.lines) {
    const auto known = std::find(files.begin(), files.end(), line.file);
    const bool has_file = line.line != 0 && known != files.end();
    lines.push_back({{"file", has_file ? int64_t(known - files.begin()) : kNone},
                     {"line", line.line},
                     {"counters", counters_json<Json>(line.counters, rule)}});
  }
  return lines;
}

Json launch_json(const Recording& recording, const LaunchTrace& launch, CountingRule rule) {
  const LaunchReport& report = launch.report;
  Json json = {{"number", launch.number},
               {"kernel", report.kernel},
               {"mangled", report.mangled},
               {"grid", report.grid},
               {"block", report.block},
               {"warps", launch.warps},
               {"static_shared_bytes", report.static_shared_bytes},
               {"dynamic_shared_bytes", report.dynamic_shared_bytes},
               {"status", to_string(report.status)},
               {"message", report.message},
               {"blocks", launch.blocks},
               {"is_whole", launch.is_whole},
               {"arrays", arrays_json(launch)},
               {"parameters", Json::array()},
               {"functions", launch.functions},
               {"instructions", instructions_json(launch)},
               {"loops", Json::array()},
               {"events", events_json(launch)},
               {"values", column(launch.values)},
               {"accesses", accesses_json(launch.accesses)},
               {"offsets", column(launch.offsets)},
               {"served", column(launch.served)},
               {"barriers", barriers_json(launch.barriers)},
               {"copies", copies_json(launch.copies)},
               {"products", products_json(launch.products)},
               {"sums", sums_json(launch.sums)},
               {"terms", column(launch.terms)},
               {"findings", findings_json(launch)},
               {"counters", counters_json<Json>(report.counters, rule)},
               {"lines", lines_json(recording, launch, rule)}};
  for (const Parameter& parameter : launch.parameters) {
    json["parameters"].push_back({{"bytes", parameter.bytes},
                                  {"value", parameter.value},
                                  {"array", parameter.array},
                                  {"offset", parameter.offset}});
  }
  for (const Loop& loop : launch.loops) {
    json["loops"].push_back({{"function", loop.function},
                             {"parent", loop.parent},
                             {"file", loop.file},
                             {"line", loop.line},
                             {"first", loop.first},
                             {"last", loop.last}});
  }
  return json;
}

}  // namespace

std::string to_json(const Recording& recording, const Device& device, const std::string& program) {
  const Settings& settings = recording.settings();
  const bool is_old = device.counting_rule == CountingRule::kHalfWarpSegments;
  Json json = {{"schema", "tilewise.trace/1"},
               {"device",
                {{"name", device.name},
                 {"counting", to_string(device.counting_rule)},
                 {"lanes", 32},
                 {"sector_bytes", 32},
                 {"banks", is_old ? 16 : 32},
                 {"bank_bytes", 4}}},
               {"program", program},
               {"case", nullptr},
               {"files", files_json(recording)},
               {"filter", {{"blocks", nullptr}, {"lines", nullptr}}},
               {"limit", settings.most_events},
               {"is_cut", recording.is_cut()},
               {"cut", recording.cut()},
               {"launches", Json::array()}};
  if (!settings.blocks.empty()) json["filter"]["blocks"] = settings.blocks;
  if (settings.first_line != 0) json["filter"]["lines"] = {settings.first_line, settings.last_line};
  for (const LaunchTrace& launch : recording.launches())
    json["launches"].push_back(launch_json(recording, launch, device.counting_rule));
  return tilewise::json_text(json) + "\n";
}

}  // namespace warpsim::trace
