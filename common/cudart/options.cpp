#include "cudart/options.h"

#include <charconv>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "warpsim/trace/settings.h"

namespace warpsim::cudart {

namespace {

std::string text_of(const char* name, const char* missing) {
  const char* value = std::getenv(name);
  return value && *value ? value : missing;
}

template <typename Number>
Number number_of(const char* name, Number missing) {
  std::string text = text_of(name, "");
  if (text.empty()) return missing;
  Number value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::runtime_error(std::string(name) + " is \"" + text + "\", which is no number.");
  return value;
}

}  // namespace

Checks parse_checks(const std::string& list) {
  Checks checks;
  std::string unknown;
  if (list.empty()) return Checks::none();
  if (!read_checks(list, &checks, &unknown)) {
    throw std::runtime_error("There is no check \"" + unknown + "\"; there are " + check_names() +
                             ", all and none.");
  }
  return checks;
}

EngineChoice parse_engine(const std::string& word) {
  if (word == "auto") return EngineChoice::kAuto;
  if (word == "interpreter") return EngineChoice::kInterpreter;
  if (word == "compiled") return EngineChoice::kCompiled;
  if (word == "compared") return EngineChoice::kCompared;
  throw std::runtime_error("There is no engine \"" + word +
                           "\"; there are auto, interpreter, compiled and compared.");
}

LiveOptions live_options_of_environment() {
  LiveOptions options;
  options.checks = parse_checks(text_of("WARPSIM_CHECKS", "all"));
  options.merge_shared = text_of("WARPSIM_MERGE_SHARED", "on") != "off";
  options.threads = number_of("WARPSIM_THREADS", 0);
  options.engine = parse_engine(text_of("WARPSIM_ENGINE", "auto"));
  options.instruction_budget = number_of<uint64_t>("WARPSIM_BUDGET", 0);
  options.sample.on = !text_of("WARPSIM_SAMPLE", "").empty();
  options.sample.seed = number_of<uint64_t>("WARPSIM_SAMPLE", options.sample.seed);
  options.trace_path = text_of("WARPSIM_TRACE", "");
  trace::read_blocks(text_of("WARPSIM_TRACE_BLOCKS", ""), &options.trace);
  trace::read_lines(text_of("WARPSIM_TRACE_LINES", ""), &options.trace);
  options.trace.most_events = number_of("WARPSIM_TRACE_EVENTS", options.trace.most_events);
  options.json_path = text_of("WARPSIM_JSON", "");
  options.sarif_path = text_of("WARPSIM_SARIF", "");
  options.sarif_root = text_of("WARPSIM_SARIF_ROOT", "");
  options.report = text_of("WARPSIM_REPORT", "text");
  options.shared_fd = number_of("WARPSIM_SHARED_FD", -1);
  return options;
}

}  // namespace warpsim::cudart
