#include "json/json.h"

namespace tilewise {

Json json_of(std::string_view text) {
  return Json::parse(text);
}

Json json_or_null(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  return json.is_discarded() ? Json() : json;
}

std::string json_text(const Json& json, int indent, Letters letters) {
  return json.dump(indent, ' ', letters == Letters::kAscii, Json::error_handler_t::replace);
}

}  // namespace tilewise
