"""``wgdml tune``: a machine measures itself, and keeps the planner's numbers that are faster there.

pairs: is one of two faster, or is it noise. search: which numbers to try. machine: what the device
does. meter: problems, their plans and times. command: the command line.
"""
