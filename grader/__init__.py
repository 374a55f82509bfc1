"""Tilewise's grader: compiles, records, executes and judges one `matmul.cu` per lab.

README.md beside this file shows the way through its packages.
"""

from pathlib import Path

__version__ = "1.0.0"

# What a wheel has of the course, laid out like a checkout; in a checkout there is no such folder.
INSTALLED = Path(__file__).resolve().parent / "installed"
