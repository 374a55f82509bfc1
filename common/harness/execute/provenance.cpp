#include "harness/execute/provenance.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <set>

namespace tilewise {

namespace {

using warpsim::provenance::Conversion;
using warpsim::provenance::FragmentPlace;
using warpsim::provenance::History;
using warpsim::provenance::Kind;
using warpsim::provenance::Node;
using warpsim::provenance::Value;

constexpr uint64_t kAllBlocks = 1 << 19;  // multiply-adds of a case that is followed as a whole
constexpr size_t kMostTerms = 4096;       // of one element
constexpr size_t kMostTiles = 1 << 16;
constexpr int kMostSteps = 64;     // from a value to its element
constexpr size_t kMostStores = 8;  // of one element that are told

std::array<uint32_t, 3> split(uint64_t linear, const std::array<uint32_t, 3>& extent) {
  const uint32_t x = std::max(extent[0], 1u), y = std::max(extent[1], 1u);
  return {uint32_t(linear % x), uint32_t(linear / x % y), uint32_t(linear / x / y)};
}

class Reader {
 public:
  Reader(const History& history, const plan::Plan& plan) : history_(history), plan_(plan) {}

  Json element(const Place& place, Value stored) {
    Json stores = Json::array();
    Value value = History::kUnsetValue;
    uint64_t count = 0;
    if (stored != 0) {
      value = history_[stored].a;
      blocks_.insert(history_[stored].block);
    }
    for (Value at = stored; at != 0 && history_[at].kind == Kind::kStored; at = history_[at].b) {
      if (++count <= kMostStores) stores.push_back(who(history_[at]));
    }
    Json json{{"row", place.row}, {"column", place.column}, {"stored", count}, {"stores", stores}};
    read_terms(value);
    json["terms"] = std::move(terms_);
    json["conversions"] = std::move(conversions_);
    json["is_whole"] = is_whole_;
    return json;
  }

  // Which matrix elements lay where in shared memory, in the blocks that stored the elements.
  Json tiles() const {
    Json json = Json::array();
    for (Value value = 0; value < history_.size() && json.size() < kMostTiles; ++value) {
      const Node& shared = history_[value];
      if (shared.kind != Kind::kShared || !blocks_.contains(shared.block)) continue;
      const Node& word = history_[shared.a];
      if (word.kind == Kind::kPacked) {
        put_tile(json, shared, 0, word.a);
        put_tile(json, shared, 2, word.b);
      } else {
        put_tile(json, shared, 0, shared.a);
      }
    }
    return json;
  }

 private:
  struct Position {
    uint32_t row, column;
  };
  Position position(const Node& element) const {
    uint32_t rows = 0, columns = 1;
    plan_.shape(history_.matrix(element), &rows, &columns);
    columns = std::max(columns, 1u);
    return {element.place / columns, element.place % columns};
  }

  void put_tile(Json& json, const Node& shared, uint32_t offset, Value value) const {
    uint32_t piece = 0;
    while (leads_to_element(history_[value])) {
      if (is_rest(history_[value])) ++piece;
      value = inner(history_[value]);
    }
    const Node& element = history_[value];
    if (element.kind != Kind::kElement) return;
    const Position at = position(element);
    json.push_back({shared.block, history_.shared_array(shared), shared.place + offset,
                    shared.interval, history_.matrix(element), at.row, at.column, shared.line,
                    piece});
  }

  Json who(const Node& node) const {
    return {{"line", node.line},
            {"block", split(node.block, history_.grid_extent)},
            {"thread", split(node.thread, history_.block_extent)}};
  }

  // The sum as a list, in the order in which it was added up.
  void read_terms(Value root) {
    struct Task {
      Value value;
      bool negative;
      float scale = 1;  // what the sum was multiplied by afterwards
    };
    terms_ = Json::array();
    conversions_ = Json::array();
    is_whole_ = true;
    std::vector<Task> tasks{{root, false}};
    while (!tasks.empty()) {
      const Task task = tasks.back();
      tasks.pop_back();
      const Node& node = history_[task.value];
      switch (node.kind) {
        case Kind::kSum:
        case Kind::kDifference:
          tasks.push_back({node.b, task.negative != (node.kind == Kind::kDifference), task.scale});
          tasks.push_back({node.a, task.negative, task.scale});
          continue;
        case Kind::kProduct:
          if (const float by = power_of_two(node); by != 0 && is_sum(scaled(node))) {
            tasks.push_back({scaled(node), task.negative, task.scale * by});
            continue;
          }
          break;
        case Kind::kConverted:
          note_conversion(node);
          tasks.push_back({node.a, task.negative, task.scale});
          continue;
        case Kind::kRead:
        case Kind::kShared:
          if (is_sum(node.a)) {  // partial sums exchanged through shared memory
            tasks.push_back({node.a, task.negative, task.scale});
            continue;
          }
          break;
        case Kind::kNumber:
          if ((node.place & 0x7FFFFFFF) == 0) continue;
          break;
        default:
          break;
      }
      if (terms_.size() >= kMostTerms) {
        is_whole_ = false;
        return;
      }
      terms_.push_back(term(task.value, task.negative, task.scale));
    }
  }

  bool is_sum(Value value) const {
    Kind kind = history_[value].kind;
    while (kind == Kind::kConverted || kind == Kind::kShared || kind == Kind::kRead) {
      value = history_[value].a;
      kind = history_[value].kind;
    }
    return kind == Kind::kSum || kind == Kind::kDifference || kind == Kind::kProduct;
  }

  void note_conversion(const Node& node) {
    for (Json& known : conversions_) {
      if (known["to"] == to_string(node.conversion) && known["line"] == node.line) {
        known["times"] = known["times"].get<uint64_t>() + 1;
        return;
      }
    }
    conversions_.push_back({{"to", to_string(node.conversion)}, {"line", node.line}, {"times", 1}});
  }

  Json term(Value value, bool negative, float scale) const {
    const Node& node = history_[value];
    Json json{{"line", node.line}, {"interval", node.interval}, {"negative", negative}};
    if (scale != 1) json["scale"] = scale;
    json["factors"] = Json::array();
    if (node.kind == Kind::kProduct) {
      json["factors"].push_back(factor(node.a));
      json["factors"].push_back(factor(node.b));
    } else {
      json["factors"].push_back(factor(value));
    }
    return json;
  }

  static bool leads_on(Kind kind) {
    return kind == Kind::kShared || kind == Kind::kConverted || kind == Kind::kRead ||
           kind == Kind::kFragment;
  }

  // The power of two that something is multiplied by, 0: none; and what is.
  float power_of_two(const Node& product) const {
    if (product.kind != Kind::kProduct) return 0;
    for (const Value side : {product.a, product.b}) {
      if (history_[side].kind != Kind::kNumber) continue;
      const auto value = std::bit_cast<float>(history_[side].place);
      if (std::isnormal(value) && value > 0 && (history_[side].place & 0x7FFFFF) == 0) return value;
    }
    return 0;
  }
  Value scaled(const Node& product) const {
    return history_[product.a].kind == Kind::kNumber ? product.b : product.a;
  }

  // A bf16 as a float: zeros below it.
  bool is_widened(const Node& node) const {
    const Kind low = node.kind == Kind::kPacked ? history_[node.a].kind : Kind::kOther;
    return low == Kind::kPlain || low == Kind::kNumber;
  }

  // What is left of an element when a piece of it is taken away.
  bool is_rest(const Node& node) const {
    if (node.kind != Kind::kDifference && node.kind != Kind::kSum) return false;
    const Value whole = element_of(node.a), part = element_of(node.b);
    return whole != 0 && part != 0 && history_[whole].array == history_[part].array &&
           history_[whole].place == history_[part].place;
  }

  bool leads_to_element(const Node& node) const {
    return leads_on(node.kind) || is_widened(node) || power_of_two(node) != 0 || is_rest(node);
  }

  // The way from a piece to the element that it is of.
  Value inner(const Node& node) const {
    if (leads_on(node.kind)) return node.a;
    if (node.kind == Kind::kPacked) return node.b;
    if (node.kind == Kind::kProduct) return scaled(node);
    // Of a rest: the side that was not rounded.
    return node.kind == Kind::kSum && is_rounded(node.a) ? node.b : node.a;
  }
  bool is_rounded(Value value) const {
    const Node* node = &history_[value];
    while (leads_on(node->kind) || is_widened(*node) || power_of_two(*node) != 0) {
      if (node->kind == Kind::kConverted) return true;
      node = &history_[inner(*node)];
    }
    return false;
  }

  // The element that a value begins with, 0: there is none.
  Value element_of(Value value) const {
    for (int steps = 0; steps < kMostSteps; ++steps) {
      const Node& node = history_[value];
      if (node.kind == Kind::kElement) return value;
      if (node.kind == Kind::kSum || node.kind == Kind::kDifference) {
        value = is_rounded(node.a) && node.kind == Kind::kSum ? node.b : node.a;
      } else if (leads_on(node.kind) || is_widened(node) || power_of_two(node) != 0) {
        value = inner(node);
      } else {
        return 0;
      }
    }
    return 0;
  }

  // What an operand is: through conversions and shared memory to where it comes from. A piece of
  // an element is what was left after `piece` others had been taken away, times `scale`.
  Json factor(Value value) const {
    Json json = Json::object();
    Json converted = Json::array();
    const Node* node = &history_[value];
    bool went_through_shared = false;
    uint32_t piece = 0;
    float scale = 1;
    for (; leads_to_element(*node); node = &history_[inner(*node)]) {
      if (node->kind == Kind::kPacked) continue;
      if (node->kind == Kind::kProduct) {
        scale *= power_of_two(*node);
      } else if (is_rest(*node)) {
        ++piece;
      } else if (node->kind == Kind::kFragment) {
        if (json.contains("fragment")) continue;
        const FragmentPlace at = FragmentPlace::from(node->place);
        json["fragment"] = who(*node);
        json["fragment"]["lane"] = node->thread % 32;
        json["fragment"]["operand"] = at.is_b ? "b" : "a";
        json["fragment"]["register"] = at.reg;
        json["fragment"]["part"] = at.part;
      } else if (node->kind == Kind::kRead) {
        if (!json.contains("read")) json["read"] = who(*node);
      } else if (node->kind == Kind::kConverted) {
        converted.push_back(
            {{"to", to_string(node->conversion)}, {"line", node->line}, {"taken", piece}});
      } else if (!went_through_shared) {
        went_through_shared = true;
        json["shared"] = who(*node);
        json["shared"]["array"] = history_.shared_array(*node);
        json["shared"]["array_bytes"] = history_.shared_array_bytes(*node);
        json["shared"]["offset_bytes"] = node->place;
        json["shared"]["interval"] = node->interval;
      }
    }
    json["kind"] = to_string(node->kind);
    if (piece != 0 || scale != 1) {
      json["kind"] = node->kind == Kind::kElement ? "piece" : "other";
      json["piece"] = piece;
      json["scale"] = scale;
    }
    if (!converted.empty()) json["converted"] = std::move(converted);
    if (node->kind == Kind::kElement) {
      const Position at = position(*node);
      json["matrix"] = history_.matrix(*node);
      json["row"] = at.row;
      json["column"] = at.column;
      json["load"] = who(*node);
    } else if (node->kind == Kind::kNumber) {
      json["value"] = std::bit_cast<float>(node->place);
    }
    return json;
  }

  const History& history_;
  const plan::Plan& plan_;
  std::set<uint32_t> blocks_;
  Json terms_, conversions_;
  bool is_whole_ = true;
};

}  // namespace

std::vector<Place> parse_places(const std::string& text, const plan::Plan& plan) {
  if (!plan.signature.is_product())
    throw InputError("--explain follows elements of the product alone.");
  std::vector<Place> places;
  for (size_t start = 0; start <= text.size();) {
    const size_t comma = std::min(text.find(',', start), text.size());
    const std::string one = text.substr(start, comma - start);
    Place place;
    int read = 0;
    const int found = std::sscanf(one.c_str(), "%u:%u%n", &place.row, &place.column, &read);
    if (found != 2 || size_t(read) != one.size())
      throw InputError("--explain: expected ROW:COLUMN, found \"" + one + "\".");
    if (place.row >= plan.j || place.column >= plan.l)
      throw InputError("--explain: P has no element " + one + ".");
    places.push_back(place);
    start = comma + 1;
  }
  return places;
}

void limit_to(const std::vector<Place>& places, const plan::Plan& plan, History* history) {
  if (uint64_t{plan.j} * plan.k * plan.l <= kAllBlocks) return;
  for (const Place& place : places)
    history->places.push_back({(place.row + 0.5) / plan.j, (place.column + 0.5) / plan.l});
}

Json provenance_json(const History& history, const std::vector<Place>& places,
                     const plan::Plan& plan, const std::vector<OutputPart>& parts) {
  Json json{{"is_complete", history.is_complete()}, {"elements", Json::array()}};
  json["grid"] = history.grid_extent;
  json["block"] = history.block_extent;
  json["all_blocks"] = history.places.empty();
  Reader reader(history, plan);
  for (const Place& place : places) {
    const uint64_t byte = (uint64_t{place.row} * plan.l + place.column) * 4;
    Value stored = 0;
    for (const OutputPart& part : parts) {
      if (byte - part.offset < part.bytes)
        stored = history.stored(part.address + byte - part.offset);
    }
    json["elements"].push_back(reader.element(place, stored));
  }
  json["tiles"] = reader.tiles();
  return json;
}

}  // namespace tilewise
