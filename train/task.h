// The door for whoever writes a task: Task and HEED_TASK, tokenizers, sampling, and the bases of
// tasks that make their examples or read a long text. How to write one: see README.md in this
// folder.
#pragma once

#include "autograd/op.h"
#include "train/data/data_file.h"
#include "train/data/generate.h"
#include "train/data/task.h"
#include "train/data/tokenizer.h"
#include "train/data/window_task.h"
#include "train/tasks/made_task.h"
#include "train/tasks/pair_task.h"
#include "train/tasks/sentence_task.h"
#include "train/tasks/symbol_pair_task.h"
#include "train/tasks/word_tokenizer.h"
