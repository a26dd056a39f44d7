"""The demos that a window can show. They need the ``demo`` extra: ``python -m pip install "wgdml[demo]"``.

``scene`` is the operators' work with nothing around it, ``stage`` the window (or the picture without one), ``live`` and
``steps`` what is shown on it.
"""

from __future__ import annotations
