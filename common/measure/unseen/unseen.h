// What these kernels share. They were written after the time model was frozen, each to move along
// another path of it; all compute P = M x N for square matrices whose width is a multiple of 128.

#pragma once

#include "check.h"
