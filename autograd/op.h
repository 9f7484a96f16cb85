// Everything that an operation needs. README.md in this folder shows how to write one.
#pragma once

#include "autograd/array/map.h"
#include "autograd/array/reduce.h"
#include "autograd/array/vector_math.h"
#include "autograd/graph/tensor.h"
#include "autograd/kernels/gemm.h"
