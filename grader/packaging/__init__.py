"""Grading on other platforms: packages, and what runs in them."""
