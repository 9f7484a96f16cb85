// The header to include when writing a layer: Module, Parameter, Input, config fields, HEED_LAYER,
// initialisers, and what attention layers share. How to write a layer: README.md in this folder.
// Include separately the layers that yours contains (heed/layers/linear.h) and the operations that
// it calls (heed/autograd/ops/softmax.h).
#pragma once

#include "autograd/op.h"
#include "layers/config/defaults.h"
#include "layers/config/fields.h"
#include "layers/config/read.h"
#include "layers/module/added_losses.h"
#include "layers/module/attend.h"
#include "layers/module/cache.h"
#include "layers/module/children.h"
#include "layers/module/evaluation_mode.h"
#include "layers/module/init.h"
#include "layers/module/input.h"
#include "layers/module/masks.h"
#include "layers/module/module.h"
#include "layers/module/observers.h"
#include "layers/module/parameter.h"
#include "layers/module/registry.h"
