"""From what happened to what it means: numerics, patterns, findings, points."""
