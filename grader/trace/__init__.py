"""Traces: what a kernel did, instruction by instruction. docs/trace.md describes the format."""
