// The header to include for writing a task: Task and HEED_TASK, its examples, tokenizers and
// sampling. See README.md in this folder for how to write one.
#pragma once

#include "autograd/op.h"
#include "layers/module/evaluation_mode.h"
#include "train/data/data_file.h"
#include "train/data/generate.h"
#include "train/data/task.h"
#include "train/data/windows.h"
#include "train/tokenizers/tokenizer.h"
