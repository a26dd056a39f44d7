"""NumPy's array API namespace with wgdml's functions in NumPy's place, for array-api-tests.

In a checkout of that suite, this folder on PYTHONPATH: ``ARRAY_API_TESTS_MODULE=array_api_namespace
pytest ...`` (docs/interop.md).
"""

from numpy import *  # noqa: F403
from numpy import __array_api_version__, __array_namespace_info__, bool, linalg  # noqa: F401

from wgdml import argmax, argmin, argsort, max, min, sort, take_along_axis, top_k  # noqa: F401
