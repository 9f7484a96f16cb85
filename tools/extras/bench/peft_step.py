"""Times a training step of GPT-2 124M by peft's LoRA, or of all its weights, on random tokens.

    python tools/extras/bench/peft_step.py full|lora [--threads 2] [--steps 10]     needs torch, transformers, peft

The shape, batch (4 windows of 64 tokens), optimizer and clipping of configs/gpt2_124m.yaml. LoRA has rank 8 on c_attn, which
is queries, keys and values in one; heed's has it on queries and values. Prints the median of the steps and the peak of
memory in use.
"""
import argparse
import resource
import statistics
import time

import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["full", "lora"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=10)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(123)
    model = GPT2LMHeadModel(GPT2Config(resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)).train()
    if args.what == "lora":
        model = get_peft_model(model, LoraConfig(r=8, lora_alpha=16, target_modules=["c_attn"], fan_in_fan_out=True))
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4)
    tokens = torch.randint(50257, (4, 64))
    times = []
    for _ in range(args.steps + 2):  # the first two warm up
        begin = time.perf_counter()
        loss = model(input_ids=tokens, labels=tokens).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        times.append(time.perf_counter() - begin)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(f"{1000 * statistics.median(times[2:]):.0f} ms, {peak:.0f} MB, {sum(p.numel() for p in trained):,} trained")


if __name__ == "__main__":
    main()
