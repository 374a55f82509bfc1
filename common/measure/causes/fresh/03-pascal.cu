// Laboratory 03. Written the way I learnt it with Turbo Pascal: declare first, then begin .. end.
#include <cstdio>
#include <cstdlib>

const int TileSize = 16;
const int High = TileSize - 1;

static void Halt(const char* where, cudaError_t code) {
  std::printf("Runtime error in %s: %s\n", where, cudaGetErrorString(code));
  std::exit(1);
}

__global__ void Multiply(const float* A, const float* B, float* C, int Size) {
  __shared__ float TileA[TileSize][TileSize];
  __shared__ float TileB[TileSize][TileSize];
  int X, Y, Line, Column, Start, I, ARow, BCol;
  float Sum;
  bool LineOk, ColumnOk;

  X = threadIdx.x;
  Y = threadIdx.y;
  Line = blockIdx.y * TileSize + Y;
  Column = blockIdx.x * TileSize + X;
  LineOk = Line <= Size - 1;
  ColumnOk = Column <= Size - 1;
  ARow = Line * Size;  // where the line of A begins
  BCol = Column;
  Sum = 0.0f;

  for (Start = 0; Start <= Size - 1; Start += TileSize) {
    TileA[Y][X] = 0.0f;
    TileB[Y][X] = 0.0f;
    if (LineOk and Start + X <= Size - 1) {
      TileA[Y][X] = A[ARow + Start + X];
    }
    if (ColumnOk and Start + Y <= Size - 1) {
      TileB[Y][X] = B[(Start + Y) * Size + BCol];
    }
    __syncthreads();
    for (I = 0; I <= High; I++) {
      Sum = Sum + TileA[Y][I] * TileB[I][X];
    }
    __syncthreads();
  }

  if (LineOk and ColumnOk) {
    C[ARow + Column] = Sum;
  }
}

void solve(const float* M, const float* N, float* P, int width) {
  int Count;
  cudaError_t Code;
  dim3 Block, Grid;

  Count = width / TileSize;
  if (width % TileSize > 0) {
    Count = Count + 1;
  }
  Block.x = TileSize;
  Block.y = TileSize;
  Grid.x = Count;
  Grid.y = Count;
  Multiply<<<Grid, Block>>>(M, N, P, width);
  Code = cudaGetLastError();
  if (Code != cudaSuccess) {
    Halt("Multiply", Code);
  }
}
