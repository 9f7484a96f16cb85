// A program compiled for one precision. precision_test.cpp starts it with either library.
#include <cstdio>

#include "autograd/base/real.h"

int main() { std::printf("%s\n", heed::precision_name); }
