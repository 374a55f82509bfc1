#include "check.h"

#include <cstdint>
__device__ void bulk_(void* to,const void* from,int bytes,uint64_t* bar){
  unsigned t=__cvta_generic_to_shared(to),b=__cvta_generic_to_shared(bar);
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0],[%1],%2,[%3];"::"r"(t),"l"(from),"r"(bytes),"r"(b):"memory");}
__device__ void wait_(uint64_t* bar,int ph){unsigned b=__cvta_generic_to_shared(bar);
  asm volatile("{ .reg .pred p; W%=: mbarrier.try_wait.parity.shared::cta.b64 p,[%0],%1; @!p bra W%=; }"::"r"(b),"r"(ph):"memory");}

__global__ void plain_(const float* M,const float* N,float* P,int j,int k,int l){
  int c=blockIdx.x*16+threadIdx.x,r=blockIdx.y*16+threadIdx.y; if(r>=j||c>=l)return;
  float s=0; for(int i=0;i<k;++i)s+=M[size_t(r)*k+i]*N[size_t(i)*l+c]; P[size_t(r)*l+c]=s;}

__global__ void lazy_(const float* M,const float* N,float* P,int j,int k,int l){
  __shared__ alignas(128) float m[8][32],n[32][8]; __shared__ alignas(8) uint64_t bar;
  int tx=threadIdx.x,ty=threadIdx.y,r0=blockIdx.y*8,c0=blockIdx.x*8; float s=0; int ph=0;
  if(tx+ty==0){unsigned b=__cvta_generic_to_shared(&bar); asm volatile("mbarrier.init.shared::cta.b64 [%0],1;"::"r"(b):"memory");
   asm volatile("fence.mbarrier_init.release.cluster;":::"memory");}
  __syncthreads();
  for(int p=0;p<k;p+=32){
    if(tx+ty==0){unsigned b=__cvta_generic_to_shared(&bar);
      asm volatile("fence.proxy.async.shared::cta;":::"memory");
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _,[%0],%1;"::"r"(b),"r"(2048):"memory");
      for(int i=0;i<8;++i)bulk_(m[i],M+size_t(r0+i)*k+p,128,&bar);
      for(int i=0;i<32;++i)bulk_(n[i],N+size_t(p+i)*l+c0,32,&bar);}
    wait_(&bar,ph); ph^=1;
    for(int i=0;i<32;++i)s+=m[ty][i]*n[i][tx];
    __syncthreads();}
  P[size_t(r0+ty)*l+c0+tx]=s;}
void solve(const float*M,const float*N,float*P,int width){int j=width,k=width,l=width;
  if(j%32==0&&k%32==0&&l%32==0) lazy_<<<dim3(l/8,j/8),dim3(8,8)>>>(M,N,P,j,k,l);
  else plain_<<<dim3((l+15)/16,(j+15)/16),dim3(16,16)>>>(M,N,P,j,k,l);}
