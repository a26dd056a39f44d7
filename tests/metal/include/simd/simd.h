// Metal has it; the kernels need nothing of it.
