"""Moves a store, three rows to a commit, and says how far it is: to be killed on the way."""

import sys

from retentive import Retentive
from retentive.transfer import copy_rows

copy_rows.PAGE_SIZE = 3
_, source, target = sys.argv
Retentive.migrate(source, target, lambda table, done: print(table, done, flush=True))
