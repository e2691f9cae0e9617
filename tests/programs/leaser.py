"""Takes a lease and says whether it got it.

Usage: leaser.py TARGET
"""

import sys

from retentive import config
from retentive.storage import open_engine
from retentive.storage.tables.leases import Leases

engine = open_engine(config.load(db=sys.argv[1]))
print(Leases(engine).take("sweep", 60))
engine.close()
