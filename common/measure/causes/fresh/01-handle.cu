/* a small library in C: a handle that nobody looks into, and a status from every call */
#include <cuda_runtime.h>

#include <stdlib.h>

typedef enum { MM_OK, MM_NO_MEMORY, MM_BAD_COPY, MM_BAD_LAUNCH } mmStatus;
typedef enum { MM_LEFT, MM_RIGHT, MM_RESULT, MM_SLOTS } mmSlot;

struct mmContext {
  float* slot[MM_SLOTS];
  int order;
  size_t size;
};
typedef struct mmContext* mmHandle;

#define MM_TRY(call)                         \
  do {                                       \
    mmStatus status_ = (call);               \
    if (status_ != MM_OK) return status_;    \
  } while (0)

__global__ void mmKernel(float* out, const float* left, const float* right, int order) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < order && column < order) {
    float sum = 0.0f;
    for (int i = 0; i < order; ++i) sum += left[row * order + i] * right[i * order + column];
    out[row * order + column] = sum;
  }
}

static mmStatus mmCreate(mmHandle* handle, int order) {
  mmHandle made = (mmHandle)calloc(1, sizeof(struct mmContext));
  if (made == NULL) return MM_NO_MEMORY;
  made->order = order;
  made->size = (size_t)order * order * sizeof(float);
  for (int i = 0; i < MM_SLOTS; ++i) {
    if (cudaMalloc((void**)&made->slot[i], made->size) != cudaSuccess) return MM_NO_MEMORY;
  }
  *handle = made;
  return MM_OK;
}

static mmStatus mmSet(mmHandle handle, mmSlot which, const float* values) {
  cudaError_t error = cudaMemcpy(handle->slot[which], values, handle->size, cudaMemcpyHostToDevice);
  return error == cudaSuccess ? MM_OK : MM_BAD_COPY;
}

static mmStatus mmGet(mmHandle handle, mmSlot which, float* values) {
  cudaError_t error = cudaMemcpy(values, handle->slot[which], handle->size, cudaMemcpyDeviceToHost);
  return error == cudaSuccess ? MM_OK : MM_BAD_COPY;
}

static mmStatus mmMultiply(mmHandle handle, unsigned across, unsigned down) {
  dim3 block(across, down);
  dim3 grid((handle->order + across - 1) / across, (handle->order + down - 1) / down);
  mmKernel<<<grid, block>>>(handle->slot[MM_RESULT], handle->slot[MM_LEFT], handle->slot[MM_RIGHT], handle->order);
  return cudaGetLastError() == cudaSuccess ? MM_OK : MM_BAD_LAUNCH;
}

static void mmDestroy(mmHandle handle) {
  for (int i = 0; i < MM_SLOTS; ++i) cudaFree(handle->slot[i]);
  free(handle);
}

static mmStatus mmRun(mmHandle handle, const float* M, const float* N, float* P) {
  MM_TRY(mmSet(handle, MM_LEFT, M));
  MM_TRY(mmSet(handle, MM_RIGHT, N));
  MM_TRY(mmMultiply(handle, 32, 8));
  MM_TRY(mmGet(handle, MM_RESULT, P));
  return MM_OK;
}

void solve(const float* M, const float* N, float* P, int width) {
  mmHandle handle;
  if (mmCreate(&handle, width) != MM_OK) return;
  mmRun(handle, M, N, P);
  mmDestroy(handle);
}
