// The one include that an operation needs. How to write one: see README.md in this folder.
#pragma once

#include "autograd/array/map.h"
#include "autograd/array/reduce.h"
#include "autograd/array/vector_math.h"
#include "autograd/graph/tensor.h"
#include "autograd/kernels/gemm.h"
