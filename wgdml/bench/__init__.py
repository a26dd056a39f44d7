"""``wgdml bench``: every case timed on the device and checked to the bit in the same run.

cases: what is measured. data: the inputs. oracle: the right answers, by NumPy.
timing: clocks, warm-up, the read ceiling. peers: other libraries.
run: one whole run. report: tables and charts. command: the command line.
"""
