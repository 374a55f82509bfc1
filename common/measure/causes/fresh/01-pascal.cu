// Lab 01. I come from Pascal: one flat index per element, everything declared first.
#include <cstdio>
#include <cstdlib>
#include "check.h"

const int GroupSize = 256;

static void Must(cudaError_t Res, const char* What) {
  if (Res != cudaSuccess) {
    fprintf(stderr, "%s: %s\n", What, cudaGetErrorString(Res));
    exit(1);
  }
}

__device__ float InnerProduct(const float* Line, const float* Column, int Count, int Stride) {
  float Total;
  int Step;

  Total = 0;
  Step = 1;
  while (Step <= Count) {
    Total = Total + *Line * *Column;
    Line = Line + 1;
    Column = Column + Stride;
    Step = Step + 1;
  }
  return Total;
}

__global__ void MulElement(const float* A, const float* B, float* C, int Size) {
  int Index, Line, Column;

  Index = blockIdx.x * blockDim.x + threadIdx.x;
  if (Index < Size * Size) {
    Line = Index / Size;
    Column = Index % Size;
    C[Index] = InnerProduct(A + Line * Size, B + Column, Size, Size);
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  float *DevA, *DevB, *DevC;
  int Elements, Groups;
  size_t Size;

  Elements = width * width;
  Size = Elements * sizeof(float);
  Must(cudaMalloc((void**)&DevA, Size), "allocate A");
  Must(cudaMalloc((void**)&DevB, Size), "allocate B");
  Must(cudaMalloc((void**)&DevC, Size), "allocate C");
  Must(cudaMemcpy(DevA, M, Size, cudaMemcpyHostToDevice), "copy A");
  Must(cudaMemcpy(DevB, N, Size, cudaMemcpyHostToDevice), "copy B");

  Groups = Elements / GroupSize;
  if (Elements % GroupSize != 0) Groups = Groups + 1;
  MulElement<<<Groups, GroupSize>>>(DevA, DevB, DevC, width);
  Must(cudaGetLastError(), "launch");

  Must(cudaMemcpy(P, DevC, Size, cudaMemcpyDeviceToHost), "copy C");
  Must(cudaFree(DevC), "free C");
  Must(cudaFree(DevB), "free B");
  Must(cudaFree(DevA), "free A");
}
