#include "check.h"
__global__ void turn(const float* M, float* T, int j, int k) {
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
  if (r < j && c < k) T[size_t(c) * j + r] = M[size_t(r) * k + c];
}
__global__ void t_(const float*M,const float*N,float*P,int j,int k,int l){__shared__ float a[16][64],b[16][64];int R=blockIdx.y*64,C=blockIdx.x*64,x=threadIdx.x,y=threadIdx.y,t=y*16+x;float s[4][4]={};for(int p=0;p<k;p+=16){for(int e=t;e<1024;e+=256){int i=e/64,c=e%64;a[i][c]=p+i<k&&R+c<j?M[size_t(p+i)*j+R+c]:0;b[i][c]=p+i<k&&C+c<l?N[size_t(p+i)*l+C+c]:0;}__syncthreads();for(int i=0;i<16;++i)for(int u=0;u<4;++u)for(int v=0;v<4;++v)s[u][v]+=a[i][4*y+u]*b[i][x+16*v];__syncthreads();}for(int u=0;u<4;++u)for(int v=0;v<4;++v)if(R+4*y+u<j&&C+x+16*v<l)P[size_t(R+4*y+u)*l+C+x+16*v]=s[u][v];}
void solve(const float* M, const float* N, float* P, int j, int k, int l) {
  float* T_; cudaMalloc(&T_, size_t(j) * k * 4);
  turn<<<dim3((k + 31) / 32, (j + 7) / 8), dim3(32, 8)>>>(M, T_, j, k);
  t_<<<dim3((l+63)/64,(j+63)/64),dim3(16,16)>>>(T_,N,P,j,k,l);
  cudaDeviceSynchronize(); cudaFree(T_);
}
