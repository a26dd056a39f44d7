"""``wgdml argmin``."""

from .reduction import extreme_command

argmin_command = extreme_command(
    "argmin",
    "smallest",
    """  wgdml argmin distances.npy
  wgdml argmin distances.npy --axis 1 --json""",
)
