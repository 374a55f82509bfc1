#include "plan/signature.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <sstream>
#include <stdexcept>

namespace tilewise::plan {

namespace {

Signature product(const char* name, bool on_host, const std::vector<std::string>& sides) {
  Signature signature;
  signature.text = name;
  signature.on_host = on_host;
  for (const char* matrix : {"M", "N", "P"}) {
    const Use use = *matrix == 'P' ? Use::kOut : Use::kIn;
    signature.parameters.push_back({matrix, Element::kFloat, true, use});
  }
  for (const std::string& side : sides)
    signature.parameters.push_back({side, Element::kInt, false, Use::kIn});
  return signature;
}

[[noreturn]] void refuse(const std::string& sentence) {
  throw std::invalid_argument(sentence);
}

std::vector<std::string> split(const std::string& text, char mark) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, mark);) parts.push_back(part);
  return parts;
}

bool is_name(const std::string& text) {
  bool good = !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0]));
  for (char c : text) good = good && (std::isalnum(static_cast<unsigned char>(c)) || c == '_');
  return good;
}

// "const float* x", "inout int* counts", "int n".
Parameter parameter_of(const std::string& text) {
  std::string spaced;
  for (char c : text) spaced += c == '*' ? " * " : std::string(1, c);
  std::istringstream stream(spaced);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  Parameter found;
  size_t at = 0;
  auto take = [&](const char* word) {
    const bool is = at < words.size() && words[at] == word;
    at += is;
    return is;
  };
  const bool both = take("inout"), constant = take("const");
  const bool known = take("float") || (found.element = Element::kInt, take("int"));
  found.is_array = take("*");
  if (found.is_array) found.use = both ? Use::kInOut : constant ? Use::kIn : Use::kOut;
  const bool fits = known && at + 1 == words.size() && is_name(words[at]) && !(both && constant) &&
                    (found.is_array || !both);
  if (!fits) refuse("a parameter is [const|inout] float|int [*] NAME, and not \"" + text + "\"");
  found.name = words[at];
  return found;
}

template <typename Number>
bool read(const std::string& text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

// "1000" or "30x40".
bool read_shape(const std::string& text, Argument* argument) {
  const size_t x = text.find('x');
  argument->rows = 1;
  const bool good = x == std::string::npos ? read(text, &argument->columns)
                                           : read(text.substr(0, x), &argument->rows) &&
                                                 read(text.substr(x + 1), &argument->columns);
  const uint64_t elements = uint64_t{argument->rows} * argument->columns;
  return good && elements >= 1 && elements <= kMostElements;
}

Argument argument_of(const Parameter& parameter, const std::string& text) {
  Argument argument;
  if (parameter.is_array) {
    if (!read_shape(text, &argument))
      refuse("the shape of " + parameter.name + " is not ELEMENTS or ROWSxCOLUMNS: " + text);
  } else if (parameter.element == Element::kInt ? !read(text, &argument.whole)
                                                : !read(text, &argument.number)) {
    refuse(parameter.name + " is not a number that fits: " + text);
  }
  return argument;
}

}  // namespace

const Signature Signature::kSquareHost = product("square-host", true, {"width"});
const Signature Signature::kSquareDevice = product("square-device", false, {"width"});
const Signature Signature::kRectDevice = product("rect-device", false, {"j", "k", "l"});

bool Signature::is_product() const {
  return text == kSquareHost.text || text == kSquareDevice.text || text == kRectDevice.text;
}

int Signature::array(const std::string& name) const {
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].is_array && parameters[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::vector<std::string> Signature::outputs() const {
  std::vector<std::string> names;
  for (const Parameter& one : parameters) {
    if (one.is_array && one.use != Use::kIn) names.push_back(one.name);
  }
  return names;
}

std::string Signature::declaration() const {
  std::string list;
  for (const Parameter& one : parameters) {
    list += list.empty() ? "" : ", ";
    if (one.is_array && one.use == Use::kIn) list += "const ";
    list += one.element == Element::kFloat ? "float" : "int";
    if (one.is_array) list += "*";
  }
  return "void solve(" + list + ")";
}

std::string Signature::symbol() const {
  std::string text = "_Z5solve";
  std::vector<std::string> seen;  // what a later parameter may refer to
  auto reference = [&](const std::string& part) -> std::string {
    const auto found = std::find(seen.begin(), seen.end(), part);
    if (found == seen.end()) return "";
    const auto index = found - seen.begin();
    return index == 0 ? "S_" : "S" + std::to_string(index - 1) + "_";
  };
  for (const Parameter& one : parameters) {
    const std::string element = one.element == Element::kFloat ? "f" : "i";
    if (!one.is_array) {
      text += element;
      continue;
    }
    const bool constant = one.use == Use::kIn;
    const std::string target = constant ? "K" + element : element, whole = "P" + target;
    const std::string known = reference(whole), inner = constant ? reference(target) : "";
    text += !known.empty() ? known : "P" + (inner.empty() ? target : inner);
    if (!known.empty()) continue;
    if (constant && inner.empty()) seen.push_back(target);
    seen.push_back(whole);
  }
  return text;
}

const char* to_string(const Signature& signature) {
  return signature.text.c_str();
}

Signature signature_of(const std::string& text) {
  for (const Signature& one :
       {Signature::kSquareHost, Signature::kSquareDevice, Signature::kRectDevice}) {
    if (text == one.text) return one;
  }
  const size_t colon = text.find(':');
  const std::string place = text.substr(0, colon);
  if (colon == std::string::npos || (place != "host" && place != "device")) {
    refuse(
        "expected one of rect-device, square-device, square-host, \"device: PARAMETERS\" and "
        "\"host: PARAMETERS\", found \"" +
        text + "\"");
  }
  Signature signature;
  signature.text = text;
  signature.on_host = place == "host";
  int words = 0, floats = 0;
  for (const std::string& part : split(text.substr(colon + 1), ',')) {
    const Parameter one = parameter_of(part);
    for (const Parameter& other : signature.parameters) {
      if (other.name == one.name) refuse("two parameters are called " + one.name);
    }
    const bool in_float = !one.is_array && one.element == Element::kFloat;
    (in_float ? floats : words) += 1;
    signature.parameters.push_back(one);
  }
  if (words > kMostWords || floats > kMostFloats) {
    refuse("solve may have " + std::to_string(kMostWords) + " arrays and ints together and " +
           std::to_string(kMostFloats) + " floats");
  }
  if (signature.outputs().empty()) refuse("no array is an output: \"" + text + "\"");
  return signature;
}

std::vector<Argument> arguments_of(const Signature& signature, const std::string& sizes) {
  std::map<std::string, std::string> given;
  for (const std::string& part : split(sizes, ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos ||
        !given.emplace(part.substr(0, equals), part.substr(equals + 1)).second)
      refuse("expected NAME=SIZE once for each parameter, found \"" + part + "\"");
  }
  std::vector<Argument> arguments;
  for (const Parameter& one : signature.parameters) {
    const auto found = given.find(one.name);
    if (found == given.end())
      refuse("the size of " + one.name + " is missing in \"" + sizes + "\"");
    arguments.push_back(argument_of(one, found->second));
  }
  if (given.size() != signature.parameters.size()) refuse("too many sizes: \"" + sizes + "\"");
  return arguments;
}

std::vector<Argument> arguments_of(const Signature& signature, uint32_t j, uint32_t k, uint32_t l) {
  std::vector<Argument> arguments(signature.parameters.size());
  const uint32_t rows[] = {j, k, j}, columns[] = {k, l, l}, sides[] = {j, k, l};
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (i < 3) {
      arguments[i].rows = rows[i];
      arguments[i].columns = columns[i];
    } else {
      arguments[i].whole = static_cast<int32_t>(sides[i - 3]);
    }
  }
  return arguments;
}

}  // namespace tilewise::plan
