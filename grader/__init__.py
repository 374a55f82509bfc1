"""Tilewise's grader: compiles, records, executes and judges one `matmul.cu` per lab.

README.md beside this file shows the way through its packages.
"""

__version__ = "0.1.0"
