#include "cudart/capture.h"

#include <utility>

#include "cudart/runtime.h"

namespace warpsim::cudart {

namespace {

constexpr unsigned kOfItsOwn = 1;  // cudaStreamNonBlocking: not ordered with the default stream
thread_local CaptureMode t_mode = CaptureMode::kGlobal;

}  // namespace

CaptureMode Captures::exchange_mode(CaptureMode mode) {
  return std::exchange(t_mode, mode);
}

Capture* Captures::of(const Stream* stream) const {
  for (const auto& [id, capture] : active_) {
    if (capture->fronts.count(stream)) return capture.get();
  }
  return nullptr;
}

Error Captures::breaks(Capture* capture, Error error) {
  if (!capture->broken) capture->broken = error;
  return error;
}

Error Captures::begin(const Stream* stream, Graph* into, std::vector<GraphNode*> front, int mode,
                      bool is_legacy) {
  if (mode < 0 || mode > 2) return kInvalidValue;
  if (is_legacy) return kCaptureUnsupported;
  if (of(stream)) return kInvalidValue;
  auto capture = std::make_unique<Capture>();
  capture->id = ++made_;
  if (!into) capture->own = std::make_unique<Graph>();
  capture->graph = into ? into : capture->own.get();
  capture->origin = stream;
  capture->mode = static_cast<CaptureMode>(mode);
  capture->thread = std::this_thread::get_id();
  capture->fronts[stream] = std::move(front);
  active_[capture->id] = std::move(capture);
  return kSuccess;
}

Error Captures::end(const Stream* stream, std::unique_ptr<Capture>* ended) {
  Capture* capture = of(stream);
  if (!capture) return kInvalidValue;
  if (capture->origin != stream) return breaks(capture, kCaptureUnmatched);
  if (capture->mode != CaptureMode::kRelaxed && capture->thread != std::this_thread::get_id())
    return breaks(capture, kCaptureWrongThread);
  Error error = capture->broken ? kCaptureInvalidated : kSuccess;
  const std::vector<GraphNode*>& last = capture->fronts[stream];
  for (const auto& [other, front] : capture->fronts) {
    if (other == stream || error) continue;
    for (const GraphNode* node : front) {
      if (!is_before(node, last)) error = kCaptureUnjoined;
    }
  }
  std::erase_if(points_, [&](const auto& entry) { return entry.second.capture == capture->id; });
  auto at = active_.find(capture->id);
  if (!error) *ended = std::move(at->second);
  active_.erase(at);
  return error;
}

Error Captures::add(Capture* capture, const Stream* stream, GraphWork work, const void* made_at,
                    GraphNode** made) {
  if (capture->broken) return kCaptureInvalidated;
  std::vector<GraphNode*>& front = capture->fronts[stream];
  GraphNode* node = capture->graph->add(std::move(work), front, made_at);
  front = {node};
  if (made) *made = node;
  return kSuccess;
}

void Captures::record(const Event* event, const Stream* stream) {
  const Capture* capture = of(stream);
  points_[event] = {capture->id, capture->fronts.at(stream)};
}

bool Captures::is_captured(const Event* event) const {
  return points_.count(event) > 0;
}

Error Captures::join(const Stream* stream, const Event* event) {
  Capture* own = of(stream);
  const auto point = points_.find(event);
  if (point == points_.end()) return own ? breaks(own, kCaptureIsolation) : kSuccess;
  Capture* capture = active_.at(point->second.capture).get();
  if (own && own != capture) {
    breaks(own, kCaptureMerge);
    return breaks(capture, kCaptureMerge);
  }
  std::vector<GraphNode*>& front = capture->fronts[stream];
  for (GraphNode* node : point->second.front) {
    if (!is_before(node, front)) front.push_back(node);
  }
  return kSuccess;
}

Error Captures::forbids_wait(const Stream* of_stream) {
  Error error = kSuccess;
  for (const auto& [id, capture] : active_) {
    if (!of_stream || capture->fronts.count(of_stream))
      error = breaks(capture.get(), kCaptureUnsupported);
  }
  return error;
}

Error Captures::forbids_legacy() {
  Error error = kSuccess;
  for (const auto& [id, capture] : active_) {
    for (const auto& [stream, front] : capture->fronts) {
      if (!(stream->flags & kOfItsOwn)) error = breaks(capture.get(), kCaptureImplicit);
    }
  }
  return error;
}

Error Captures::forbids_unsafe() {
  Error error = kSuccess;
  if (t_mode == CaptureMode::kRelaxed) return error;
  for (const auto& [id, capture] : active_) {
    const bool is_own = capture->thread == std::this_thread::get_id();
    if (capture->mode == CaptureMode::kRelaxed) continue;
    const bool is_watched = t_mode == CaptureMode::kGlobal && capture->mode == CaptureMode::kGlobal;
    if (is_own || is_watched) error = breaks(capture.get(), kCaptureUnsupported);
  }
  return error;
}

}  // namespace warpsim::cudart
