"""Selection + machine -> Plan: dispatches and the scratch that they need. Pure data, no GPU.

A selection is cut to views; an algorithm is chosen; its dispatches leave pairs in order or outputs.

Every algorithm reads a *source* (a view of the input, or pairs in scratch) and fills a *sink*
(pairs in scratch, or the outputs). So the result of one can be the source of the next.
"""

from .algorithms import ALGORITHMS, Algorithm, register, unregister
from .choose import GPU_RULES, SOFTWARE_RULES, Rule
from .machine import Machine
from .planner import Planner
from .policy import Profile, Range, number
from .problem import Problem, Rejected, Unserved
from .profiles import adjusted, family_of, numbers_of, of_phones, profile_of, ranges
from .program import Binding, Dispatch, Plan

__all__ = [
    "ALGORITHMS",
    "GPU_RULES",
    "SOFTWARE_RULES",
    "Algorithm",
    "Binding",
    "Dispatch",
    "Machine",
    "Plan",
    "Planner",
    "Problem",
    "Profile",
    "Range",
    "Rejected",
    "Rule",
    "Unserved",
    "adjusted",
    "family_of",
    "number",
    "numbers_of",
    "of_phones",
    "profile_of",
    "ranges",
    "register",
    "unregister",
]
