"""``wgdml argmax``."""

from .reduction import extreme_command

argmax_command = extreme_command(
    "argmax",
    "largest",
    """  wgdml argmax scores.npy
  wgdml argmax scores.npy --axis 1 --last
  wgdml argmax volume.npy --axis 1 --axis 2 --keepdims -o best.npy""",
)
