// matrix mul "compute shader". group = 32x8 threads, each does 4 pixels of a 32x32 tile
#include <cuda_runtime.h>
#include <cstdio>

#define GROUP_W 32
#define GROUP_H 8
#define TILE 32
#define PER_THREAD (TILE / GROUP_H)

struct Params {
	const float* src0;
	const float* src1;
	float* dst;
	int w, h;      // of dst
	int depth;     // shared dimension
};

__device__ inline float Fetch(const float* tex, int w, int h, int x, int y)
{
	bool visible = x < w && y < h;
	return visible ? tex[(size_t)y * w + x] : 0.0f;
}

__global__ void CSMain(Params p)
{
	__shared__ float lds0[TILE][TILE];
	__shared__ float lds1[TILE][TILE];

	const int2 gtid = make_int2(threadIdx.x, threadIdx.y);
	const int2 origin = make_int2(blockIdx.x * TILE, blockIdx.y * TILE);

	float pixel[PER_THREAD] = { 0, 0, 0, 0 };

	for (int base = 0; base < p.depth; base += TILE)
	{
		for (int i = 0; i < PER_THREAD; i++)
		{
			int y = gtid.y + i * GROUP_H;
			lds0[y][gtid.x] = Fetch(p.src0, p.depth, p.h, base + gtid.x, origin.y + y);
			lds1[y][gtid.x] = Fetch(p.src1, p.w, p.depth, origin.x + gtid.x, base + y);
		}
		__syncthreads();	// GroupMemoryBarrierWithGroupSync

		for (int d = 0; d < TILE; d++)
		{
			float right = lds1[d][gtid.x];
			for (int i = 0; i < PER_THREAD; i++)
				pixel[i] += lds0[gtid.y + i * GROUP_H][d] * right;
		}
		__syncthreads();
	}

	int x = origin.x + gtid.x;
	if (x >= p.w)
		return;
	for (int i = 0; i < PER_THREAD; i++)
	{
		int y = origin.y + gtid.y + i * GROUP_H;
		if (y < p.h)
			p.dst[(size_t)y * p.w + x] = pixel[i];
	}
}

void solve(const float* M, const float* N, float* P, int j, int k, int l)
{
	Params p;
	p.src0 = M;
	p.src1 = N;
	p.dst = P;
	p.w = l;
	p.h = j;
	p.depth = k;

	dim3 group(GROUP_W, GROUP_H);
	dim3 dispatch((p.w + TILE - 1) / TILE, (p.h + TILE - 1) / TILE);
	CSMain<<<dispatch, group>>>(p);
	if (cudaGetLastError() != cudaSuccess)
		printf("dispatch failed\n");
}
