// What solve is given. A lab says it once, as a signature; each case says the sizes.
//
//   device: const float* x, float* sum, int n       a signature, as text
//   x=1000,sum=1,n=1000                             the sizes of one of its cases
//
// Arrays hold float or int: of const elements they are inputs, else outputs, and with `inout`
// before the type both. Their sizes are ELEMENTS or ROWSxCOLUMNS. After `host:` the pointers are
// host pointers. The signatures of the product P = M N have names of their own, and sizes JxKxL:
//
//   square-host     solve(M, N, P, width), host pointers
//   square-device   the same with device pointers
//   rect-device     solve(M, N, P, j, k, l), device pointers

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilewise::plan {

enum class Element : uint8_t { kFloat, kInt };
enum class Use : uint8_t { kIn, kOut, kInOut };

struct Parameter {
  std::string name;
  Element element = Element::kFloat;
  bool is_array = false;
  Use use = Use::kIn;  // of an array
};

// What a parameter is in one case.
struct Argument {
  uint32_t rows = 0, columns = 0;  // of an array; one of one dimension has one row
  int32_t whole = 0;               // of an int
  float number = 0;                // of a float
};

struct Signature {
  std::string text;
  bool on_host = false;
  std::vector<Parameter> parameters;

  bool is_product() const;
  bool is_square() const { return is_product() && parameters.size() == 4; }
  // Index of the array called `name`, -1 if there is none.
  int array(const std::string& name) const;
  // The arrays that solve fills or changes, in order.
  std::vector<std::string> outputs() const;
  // As people write it: "void solve(const float*, float*, int)".
  std::string declaration() const;
  // As the compiler names it: "_Z5solvePKfPfi".
  std::string symbol() const;

  bool operator==(const Signature& other) const { return text == other.text; }

  static const Signature kSquareHost, kSquareDevice, kRectDevice;
};

const char* to_string(const Signature& signature);
// The inverse. Throws std::invalid_argument with a sentence for another text.
Signature signature_of(const std::string& text);

// The longest side of a matrix of the product, and the most elements of any other array.
constexpr uint32_t kLargestSide = 1u << 20, kMostElements = 1u << 30;

// How a call hands parameters over: so many in registers of each kind, wherever the harness runs.
constexpr int kMostWords = 6, kMostFloats = 4;

// One for each parameter, in order. Throws std::invalid_argument with a sentence.
std::vector<Argument> arguments_of(const Signature& signature, const std::string& sizes);
// Of a signature of the product.
std::vector<Argument> arguments_of(const Signature& signature, uint32_t j, uint32_t k, uint32_t l);

}  // namespace tilewise::plan
