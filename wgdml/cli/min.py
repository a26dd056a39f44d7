"""``wgdml min``."""

from .reduction import extreme_command

min_command = extreme_command(
    "min",
    "smallest",
    """  wgdml min distances.npy
  wgdml min distances.npy --axis 1 --nan last -o best.npz""",
)
