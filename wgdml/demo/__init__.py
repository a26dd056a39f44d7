"""``wgdml demo``. It needs the extra ``demo``: ``pip install "wgdml[demo]"``.

``scene`` is the operators' work with nothing around it, ``stage`` the window (or a picture without
one), ``live`` what is shown on it.
"""
