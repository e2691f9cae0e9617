"""Removes data permanently, with every trace of its bytes. Start reading at `purge.py`."""
