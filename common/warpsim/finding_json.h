// A finding as JSON: the one place that writes it, for tilewise-exec and for `warpsim run`.
// docs/finding.schema.json describes the fields.
//
// A header, so that warpsim itself needs no JSON in its interface; Json is tilewise::Json.

#pragma once

#include "warpsim/finding.h"

namespace warpsim {

template <class Json>
Json party_json(const Party& p) {
  return {{"access", to_string(p.access)},
          {"access_bytes", p.access_bytes},
          {"file", p.file},
          {"line", p.line},
          {"block", p.block},
          {"thread", p.thread},
          {"operation", p.operation},
          {"stream", p.stream},
          {"call", p.call}};
}

template <class Json>
Json share_json(const Share& s) {
  return {{"kind", to_string(s.kind)},
          {"file", s.file},
          {"line", s.line},
          {"amount", s.amount},
          {"parameter", s.parameter},
          {"box", s.box},
          {"sizes", s.sizes},
          {"element_bytes", s.element_bytes},
          {"pitch", s.pitch},
          {"room", s.room},
          {"array", s.array},
          {"array_bytes", s.array_bytes},
          {"place", s.place}};
}

// Of a launch that is refused for a size that is 0 or too large: which one, "grid.x"; "" of others.
inline std::string extent_name(const Diagnostic& d) {
  const bool is_extent = d.cause == Cause::kZeroExtent || d.cause == Cause::kBlockExtent ||
                         d.cause == Cause::kGridExtent;
  if (!is_extent || !d.refusal) return "";
  return std::string(d.refusal->is_grid ? "grid." : "block.") + "xyz"[d.refusal->axis];
}

// `launch`: the launch that showed it first, as the document counts them.
template <class Json>
Json finding_json(const Diagnostic& d, int64_t launch) {
  Json json = {{"code", to_string(d.code)},
               {"severity", to_string(d.severity)},
               {"message", d.message},
               {"file", d.file},
               {"line", d.line},
               {"kernel", d.kernel},
               {"block", d.block},
               {"thread", d.thread},
               {"count", d.count},
               {"launch", launch},
               {"cause", to_string(d.cause)},
               {"access", to_string(d.access)},
               {"access_bytes", d.access_bytes},
               {"is_store", d.writes()},
               {"space", to_string(d.space)},
               {"array", d.array},
               {"array_bytes", d.array_bytes},
               {"offset_bytes", d.offset_bytes},
               {"element", d.element},
               {"beyond_bytes", d.beyond_bytes},
               {"scope", to_string(d.scope)},
               {"operation", d.operation},
               {"stream", d.stream},
               {"call", d.call},
               {"interval", d.interval ? Json(*d.interval) : Json(nullptr)},
               {"amount", d.amount},
               {"limit", d.limit},
               {"extent", extent_name(d)},
               {"words", d.words},
               {"assertion", nullptr},
               {"other", d.other ? party_json<Json>(*d.other) : Json(nullptr)},
               {"shares", Json::array()}};
  for (const Share& s : d.shares) json["shares"].push_back(share_json<Json>(s));
  if (d.assertion) {
    json["assertion"] = {{"condition", d.assertion->condition},
                         {"function", d.assertion->function},
                         {"file", d.assertion->file},
                         {"line", d.assertion->line}};
  }
  const Party other = d.other.value_or(Party{});
  json["other_file"] = other.file;
  json["other_line"] = other.line;
  json["other_block"] = other.block;
  json["other_thread"] = other.thread;
  return json;
}

// Every name that the fields above may have, by enumeration.
template <class Json>
Json vocabulary_json() {
  Json json;
  for (const char* enumeration : {"code", "severity", "access", "space", "cause", "scope", "share"})
    json[enumeration] = names_of(enumeration);
  return json;
}

}  // namespace warpsim
