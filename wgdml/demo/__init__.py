"""The demos that a window can show. They need the extra ``demo``: ``pip install "wgdml[demo]"``.

``scene`` is the operators' work with nothing around it, ``stage`` the window (or a picture without
one), ``live`` and ``steps`` what is shown on it.
"""
