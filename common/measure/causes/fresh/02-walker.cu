/* lab 02, C style. 256 threads in a line, pointers that walk through the matrices. */
#include "check.h"

#define LOG_T 4
#define T (1 << LOG_T)
#define MASK (T - 1)

__global__ void mm(const float *A, const float *B, float *C, int n)
{
	__shared__ float as[T * T], bs[T * T];
	unsigned t = threadIdx.x;
	unsigned u = t & MASK;		/* across */
	unsigned v = t >> LOG_T;	/* down */
	const float *pa, *pb, *end;
	float s = 0;

	A += blockIdx.y * T * n;	/* first row of my strip */
	B += blockIdx.x * T;		/* first column of my strip */
	C += blockIdx.y * T * n + blockIdx.x * T;

	end = A + n;
	pa = A;
	pb = B;
	do {
		const float *x, *y;
		int i;

		as[t] = pa[v * n + u];
		bs[t] = pb[v * n + u];
		__syncthreads();

		x = as + (v << LOG_T);
		y = bs + u;
		for (i = T; i--; y += T)
			s += *x++ * *y;
		__syncthreads();

		pa += T;
		pb += T * n;
	} while (pa != end);

	C[v * n + u] = s;
}

void solve(const float *M, const float *N, float *P, int width)
{
	int tiles = width >> LOG_T;
	dim3 grid(tiles, tiles);

	mm<<<grid, T * T>>>(M, N, P, width);
	CHECK(cudaGetLastError());
}
