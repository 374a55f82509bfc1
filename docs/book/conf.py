"""Sphinx's settings for the course book, which `make docs` builds from the Markdown as it stands.

The source folder is the repository's root, so that links are those that GitHub follows.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "Tilewise"
language = "en"
root_doc = "docs/README"
extensions = ["myst_parser", "navigation", "source_pages", "accessible"]

include_patterns = [
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE-texts.md",
    "README.md",
    "SECURITY.md",
    "common/README.md",
    "datasets/README.md",
    "docs/**.md",
    "exercises/*/README.md",
    "grader/README.md",
    "labs/*/README.md",
    "solutions/*/*.md",
    "solutions/*/*/README.md",
    "templates/README.md",
]

# The contents at the side, in the course's order: a heading, and patterns of pages below it. A page
# of `include_patterns` that no pattern leads to fails the build.
book_chapters = [
    ("Begin here", ["docs/machine", "exercises/00-*/README"]),
    ("The labs", ["labs/*/README"]),
    ("Exercises", ["exercises/*/README"]),
    (
        "Beside the labs",
        [
            "docs/glossary",
            "docs/reasoning",
            "docs/by-hand",
            "docs/cpp-crib",
            "docs/study",
            "docs/reading-a-report",
            "docs/time-model",
            "docs/watch-session",
            "docs/show",
            "docs/quiz",
            "docs/trace",
            "docs/experiments/README",
            "docs/sampling",
            "docs/warpsim",
            "docs/cuda-support",
            "docs/compiled-kernels",
            "docs/term",
            "datasets/README",
        ],
    ),
    (
        "For instructors",
        [
            "docs/instructors",
            "docs/sources",
            "docs/writing-a-lab",
            "docs/batch",
            "docs/publish",
            "docs/trust",
            "docs/wheel",
            "docs/upgrading",
            "docs/platforms",
            "templates/README",
        ],
    ),
    (
        "Solutions",
        [
            "solutions/gallery/README",
            "solutions/summit/README",
            "solutions/*/*",
            "solutions/*/*/README",
        ],
    ),
    ("Measurements", ["docs/measurements/README", "docs/measurements/*"]),
    (
        "The project",
        [
            "README",
            "CHANGELOG",
            "CONTRIBUTING",
            "SECURITY",
            "LICENSE-texts",
            "common/README",
            "grader/README",
        ],
    ),
]

myst_heading_anchors = 4  # GitHub makes an anchor of each heading
smartquotes = False  # would turn the -- of an option into a dash
highlight_language = "none"
nitpicky = True

html_theme = "furo"
html_title = "Tilewise"
html_logo = "static/tiles.svg"
html_favicon = "static/tiles.svg"
html_static_path = ["static"]
html_css_files = ["book.css"]
templates_path = ["layouts"]
html_additional_pages = {"index": "first-page.html"}
html_theme_options = {"navigation_with_keys": True}
html_show_copyright = False
html_copy_source = False
html_use_index = False
# The search works in a page opened as a file; its excerpts would have to be fetched, which a
# browser refuses there.
html_show_search_summary = False
