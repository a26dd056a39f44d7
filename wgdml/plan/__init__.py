"""Selection + machine -> Plan: dispatches and the scratch that they need. Pure data, no GPU.

A selection is cut to views; an algorithm is chosen; its dispatches leave pairs in order or outputs.

Every algorithm reads a *source* (a view of the input, or pairs in scratch) and fills a *sink*
(pairs in scratch, or the outputs). So the result of one can be the source of the next.
"""

from .algorithms import ALGORITHMS, Algorithm, register, unregister
from .choose import GPU_RULES, SOFTWARE_RULES, Rule, rules_table
from .machine import Machine
from .planner import Planner
from .problem import Problem, Unserved
from .profiles import Profile, adjusted, numbers_of, profile_of
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
    "Rule",
    "Unserved",
    "adjusted",
    "numbers_of",
    "profile_of",
    "register",
    "rules_table",
    "unregister",
]
