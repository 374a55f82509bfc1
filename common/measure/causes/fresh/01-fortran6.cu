/* Converted from my Fortran habits: one workspace, goto for errors */
#include <stdio.h>
#include <stdlib.h>

#define NX 32
#define NY 8

__global__ void matprod(const float *x, const float *y, float *z, int n)
{
  int j = threadIdx.x + NX * blockIdx.x;   /* column */
  int i = threadIdx.y + NY * blockIdx.y;   /* row    */
  int l;
  float s;

  if (i < n && j < n) {
    s = 0.f;
    l = 0;
    while (l < n) {
      s = s + x[l + i * n] * y[j + l * n];
      l = l + 1;
    }
    z[j + i * n] = s;
  }
}

void solve(const float *M, const float *N, float *P, int width)
{
  float *work = NULL;
  float *dx, *dy, *dz;
  size_t nn = (size_t)width * width;
  cudaError_t ierr;
  dim3 threads(NX, NY);
  dim3 blocks((width - 1) / NX + 1, (width - 1) / NY + 1);

  ierr = cudaMalloc((void **)&work, 3 * nn * sizeof(float));
  if (ierr != cudaSuccess) goto fail;
  dx = work;
  dy = work + nn;
  dz = work + 2 * nn;

  ierr = cudaMemcpy(dx, M, nn * sizeof(float), cudaMemcpyHostToDevice);
  if (ierr != cudaSuccess) goto fail;
  ierr = cudaMemcpy(dy, N, nn * sizeof(float), cudaMemcpyHostToDevice);
  if (ierr != cudaSuccess) goto fail;

  matprod<<<blocks, threads>>>(dx, dy, dz, width);
  ierr = cudaGetLastError();
  if (ierr != cudaSuccess) goto fail;

  ierr = cudaMemcpy(P, dz, nn * sizeof(float), cudaMemcpyDeviceToHost);
  if (ierr != cudaSuccess) goto fail;
  cudaFree(work);
  return;

fail:
  fprintf(stderr, "matprod: %s\n", cudaGetErrorString(ierr));
  cudaFree(work);
  exit(2);
}
