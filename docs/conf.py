"""How the site is built; ./site gathers its pages first."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import orthant
from gather import ROOT, address

project = "Orthant"
author = "The Orthant developers"
copyright = author  # noqa: A001
version = release = orthant.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery/README.rst"]
nitpicky = False

# Formulas in the texts are plain characters, and headings are linked to by name.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
templates_path = ["templates"]
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "crates/orthant-py/examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 60,
    "write_computation_times": False,
    "copyfile_regex": "",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "reset_modules": ("matplotlib",),
    "matplotlib_animations": False,
}
suppress_warnings = ["config.cache"]

html_theme = "furo"
html_title = f"Orthant {version}"
html_static_path: list[str] = []
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "source_repository": address("repository"),
    "source_branch": "main",
    "source_directory": "docs/",
    # A generated page has no source to view.
    "top_of_page_buttons": [],
    "light_css_variables": {"color-brand-primary": "#0b6e4f", "color-brand-content": "#0b6e4f"},
    "dark_css_variables": {"color-brand-primary": "#5fd0a5", "color-brand-content": "#5fd0a5"},
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
