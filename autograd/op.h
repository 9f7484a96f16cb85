// The header to include for writing an operation: arrays and tensors, loops over them, threads,
// matrix products, random streams, modes and errors. See README.md in this folder for how to write
// one.
#pragma once

#include "autograd/array/ids.h"
#include "autograd/array/map.h"
#include "autograd/array/reduce.h"
#include "autograd/base/error.h"
#include "autograd/base/modes.h"
#include "autograd/graph/tensor.h"
#include "autograd/kernels/gemm.h"
#include "autograd/kernels/vector_math.h"
#include "autograd/random/fills.h"
#include "autograd/random/generator.h"
#include "autograd/random/streams.h"
#include "autograd/threads/parallel.h"
