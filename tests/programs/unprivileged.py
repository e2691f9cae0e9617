"""The command line without the privileges of root, which may read and write everywhere.

Usage: unprivileged.py ARGUMENT...
"""

import ctypes
import os
import sys

from retentive.cli import main

VERSION = 0x20080522  # of the system call, with two words for each set


def drop_capabilities() -> None:
    """Stay the same user, who then may do what the permissions of files say."""
    header = (ctypes.c_uint32 * 2)(VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None, use_errno=True).capset(header, nothing):
        raise OSError(ctypes.get_errno(), "capset")


if sys.platform == "linux" and os.geteuid() == 0:
    drop_capabilities()
sys.exit(main())
