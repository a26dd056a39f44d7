"""``wgdml max``."""

from .reduction import extreme_command

max_command = extreme_command(
    "max",
    "largest",
    """  wgdml max scores.npy
  wgdml max scores.npy --axis 1 --nan last -o best.npz""",
)
