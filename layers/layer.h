// The door for whoever writes a layer: Module and its parameters, what it is given, the fields of
// its config, HEED_LAYER, initial numbers, and what attending layers share. How to write one: see
// README.md in this folder. Layers that yours is made of have headers of their own
// (heed/layers/linear.h), and so have operations (heed/autograd/ops/softmax.h).
#pragma once

#include "autograd/op.h"
#include "layers/config/fields.h"
#include "layers/module/attend.h"
#include "layers/module/evaluation_mode.h"
#include "layers/module/init.h"
#include "layers/module/input.h"
#include "layers/module/key_value_cache.h"
#include "layers/module/masked_mean.h"
#include "layers/module/module.h"
#include "layers/module/observers.h"
#include "layers/module/parameter.h"
#include "layers/module/registry.h"
