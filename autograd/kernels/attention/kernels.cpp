#include "autograd/kernels/attention/kernels.h"

#include "autograd/kernels/attention/amx_kernel.h"
#include "autograd/kernels/attention/backward.h"
#include "autograd/kernels/attention/forward.h"

namespace heed::detail {

namespace {

template <AmxFormat format>
constexpr AttentionKernel attention_on{
    [](const AttentionProblem& p, bool) { return format == AmxFormat::none || amx_serves(p); },
    [](const AttentionProblem& p, const AttentionInputs& inputs, real* y,
       AttentionStatistics& statistics) { return forward_pass(format, p, inputs, y, statistics); },
    weights_pass,
    [](const AttentionProblem& p, const AttentionInputs& inputs,
       const AttentionStatistics& statistics, const real* y, const real* dy,
       const AttentionGradients& gradients) {
      backward_pass(format, p, inputs, statistics, y, dy, gradients);
    }};

}  // namespace

const AttentionKernel amx_fp16_attention = attention_on<AmxFormat::float16>;
const AttentionKernel amx_bf16_attention = attention_on<AmxFormat::bfloat16>;
const AttentionKernel vector_attention = attention_on<AmxFormat::none>;

}  // namespace heed::detail
