"""Software adapters: few cores that run eight invocations together up to a barrier.

Measured on Mesa's lavapipe.
"""

from ..occupancy import OccupancyPolicy

SOFTWARE = {
    "occupancy": OccupancyPolicy(workgroups=32, invocations=1 << 10, loads_each=64),
}
