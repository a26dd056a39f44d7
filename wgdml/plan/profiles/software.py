"""Software adapters: few cores that run eight invocations together up to a barrier.

Measured on Mesa's lavapipe. Their own algorithms, ``serial_...``, have no numbers.
"""

from ..algorithms.radix_select import RadixSelectPolicy
from ..algorithms.row_sort_bitonic import RowSortBitonicPolicy
from ..occupancy import OccupancyPolicy

SOFTWARE = {
    "occupancy": OccupancyPolicy(workgroups=32, invocations=1 << 10, loads_each=64),
    "row_sort_bitonic": RowSortBitonicPolicy(max_length=4096),
    "radix_select": RadixSelectPolicy(sample_length=1 << 20, sample_work=0),
}
