// Streams whose work goes into a graph.

#include "cudart/api/graph_support.h"

using namespace warpsim::cudart;

namespace {

Error begin(Runtime& rt, void* handle, Graph* into, std::vector<GraphNode*> front, int mode) {
  const Stream* stream = rt.find_stream(handle);
  if (!stream) return kInvalidResourceHandle;
  constexpr uintptr_t kPerThread = 2;
  const bool is_legacy = stream->number == 0 && reinterpret_cast<uintptr_t>(handle) != kPerThread;
  return rt.captures().begin(stream, into, std::move(front), mode, is_legacy);
}

}  // namespace

WARPSIM_API int cudaStreamBeginCapture(void* stream, int mode) {
  return call("cudaStreamBeginCapture",
              [&](Runtime& rt) { return begin(rt, stream, nullptr, {}, mode); });
}

WARPSIM_API int cudaStreamBeginCaptureToGraph(void* stream, void* handle, void* const* before,
                                              const void*, size_t count, int mode) {
  return call("cudaStreamBeginCaptureToGraph", [&](Runtime& rt) {
    Graph* graph = Graph::find(handle);
    const auto front = nodes_of(graph, before, count);
    if (!graph || !front) return kInvalidValue;
    return begin(rt, stream, graph, *front, mode);
  });
}

WARPSIM_API int cudaStreamEndCapture(void* handle, void** graph) {
  return call("cudaStreamEndCapture", [&](Runtime& rt) {
    if (graph) *graph = nullptr;
    const Stream* stream = rt.find_stream(handle);
    if (!stream) return kInvalidResourceHandle;
    std::unique_ptr<Capture> ended;
    if (Error error = rt.captures().end(stream, &ended)) return error;
    // A program that captures into a graph of its own has it already.
    if (!graph) return ended->own ? kInvalidValue : kSuccess;
    *graph = ended->own ? rt.graphs().adopt(std::move(ended->own)) : ended->graph;
    return kSuccess;
  });
}

WARPSIM_API int cudaThreadExchangeStreamCaptureMode(int* mode) {
  return call("cudaThreadExchangeStreamCaptureMode", [&](Runtime&) {
    if (!mode || *mode < 0 || *mode > 2) return kInvalidValue;
    *mode = static_cast<int>(Captures::exchange_mode(static_cast<CaptureMode>(*mode)));
    return kSuccess;
  });
}
