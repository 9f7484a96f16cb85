// The door for whoever writes an optimizer or a schedule, and for training loops in C++: the bases
// with HEED_OPTIMIZER and HEED_SCHEDULE, the optimizers that exist, and weights in a file. How to
// write one: see README.md in this folder.
#pragma once

#include "autograd/op.h"
#include "train/checkpoint/state_dict.h"
#include "train/optim/adam.h"
#include "train/optim/adamw.h"
#include "train/optim/optimizer.h"
#include "train/optim/schedule.h"
#include "train/optim/sgd.h"
#include "train/optim/warmup_schedule.h"
