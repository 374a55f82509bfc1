// Text to JSON and back. The library's parser and writer are templates: what calls these two
// functions instead does not compile them anew.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tilewise {

using Json = nlohmann::ordered_json;  // fields stay in the order we write them

// Text -> JSON. Throws Json::parse_error. Text from somebody we do not trust: plan/json_fields.h.
Json json_of(std::string_view text);
// The same; null for what is no JSON.
Json json_or_null(std::string_view text);

enum class Letters { kUtf8, kAscii };  // kAscii: what is beyond it is written as \u and four digits

// JSON -> text: on one line, or with every level indented by `indent` blanks. What is not UTF-8 is
// replaced.
std::string json_text(const Json& json, int indent = -1, Letters letters = Letters::kUtf8);

}  // namespace tilewise
