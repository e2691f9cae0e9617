"""`python -m retentive` is `retentive`."""

import sys

from retentive.cli import main

sys.exit(main())
