#include "harness/execute/provenance.h"

#include <bit>
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
    while (history_[value].kind == Kind::kConverted) value = history_[value].a;
    const Node& element = history_[value];
    if (element.kind != Kind::kElement) return;
    const Position at = position(element);
    json.push_back({shared.block, history_.shared_array(shared), shared.place + offset,
                    shared.interval, history_.matrix(element), at.row, at.column, shared.line});
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
          tasks.push_back({node.b, task.negative != (node.kind == Kind::kDifference)});
          tasks.push_back({node.a, task.negative});
          continue;
        case Kind::kConverted:
          note_conversion(node);
          tasks.push_back({node.a, task.negative});
          continue;
        case Kind::kRead:
        case Kind::kShared:
          if (is_sum(node.a)) {  // partial sums exchanged through shared memory
            tasks.push_back({node.a, task.negative});
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
      terms_.push_back(term(task.value, task.negative));
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

  Json term(Value value, bool negative) const {
    const Node& node = history_[value];
    Json json{{"line", node.line}, {"interval", node.interval}, {"negative", negative}};
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

  // What an operand is: through conversions and shared memory to where it comes from.
  Json factor(Value value) const {
    Json json = Json::object();
    Json converted = Json::array();
    const Node* node = &history_[value];
    bool went_through_shared = false;
    for (; leads_on(node->kind); node = &history_[node->a]) {
      if (node->kind == Kind::kFragment) {
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
        converted.push_back({{"to", to_string(node->conversion)}, {"line", node->line}});
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
