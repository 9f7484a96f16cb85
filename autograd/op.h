// The one include that an operation needs. How to write one: see README.md in this folder.
#pragma once

#include "autograd/blas.h"
#include "autograd/elementwise.h"
#include "autograd/reduce.h"
#include "autograd/tensor.h"
#include "autograd/vector_math.h"
