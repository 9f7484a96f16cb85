// The header to include for writing an optimizer or a schedule, or a training loop in C++: the base
// classes with HEED_OPTIMIZER and HEED_SCHEDULE, the built-in optimizers, weights and their state
// in files.
// See README.md in this folder for how to write one.
#pragma once

#include "autograd/op.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/state_dict.h"
#include "train/optim/adam.h"
#include "train/optim/optimizer.h"
#include "train/optim/schedule.h"
#include "train/optim/sgd.h"
