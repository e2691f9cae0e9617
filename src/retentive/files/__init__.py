"""The index of files: find, read, index and watch files of this machine.

`verbs.py` has the verbs and `index.py` writes the index. `walk.py` finds files, `ignore.py` leaves some out, `readers/`
turns each kind of file into sections, `watch.py` follows changes.
"""
