// The header to include for writing a tokenizer: Tokenizer and HEED_TOKENIZER, vocabularies that a
// checkpoint keeps, and the reading of files and of UTF-8. See README.md in this folder for how to
// write one.
#pragma once

#include "layers/text/display.h"
#include "layers/text/utf8.h"
#include "train/files/files.h"
#include "train/tokenizers/tokenizer.h"
#include "train/tokenizers/vocabulary.h"
