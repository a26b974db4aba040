"""The course as a folder of static files: every page with its outputs, its views alive.

`sources.py` and its neighbours write the texts, Sphinx makes pages of them (`extension.py` is our
part of that), `finish.py` does what is left. No page asks anything of the network.
"""
