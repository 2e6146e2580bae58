"""Configuration of the documentation site.

Build it from the root: ``sphinx-build -W docs build/docs``. It needs the extra "docs", and no
network.
"""

import os
import sys
from pathlib import Path

import skml_kalda

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
from names import write_inventory

# Examples and the bench draw into files.
os.environ.setdefault("MPLBACKEND", "agg")

project = "skml_kalda"
author = "The skml_kalda developers"
copyright = author
version = release = skml_kalda.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "docstrings",
    "kept",
    "mathml",
    "names",
    "repository",
]
exclude_patterns = ["gallery/GALLERY_HEADER.rst"]
nitpicky = False
suppress_warnings = ["config.cache"]

# Single backticks in docstrings: a link if it is a name of the reference, code if not.
default_role = "py:obj"
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"
numpydoc_class_members_toctree = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_update_mathjax = False
html_math_renderer = "mathml"

inventory = write_inventory(Path(__file__).parents[1] / "build" / "scikit-learn.inv")
intersphinx_mapping = {"sklearn": ("https://scikit-learn.org/stable/", inventory)}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\w+\.py",
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("skml_kalda",),
    "backreferences_dir": "reference/backreferences",
    "reference_url": {"skml_kalda": None},
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "plot_gallery": True,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"skml_kalda {version}"
html_logo = html_favicon = "_static/logo.svg"
# Kept figures are in the pages; their files open large.
html_static_path = ["_static", "../benchmarks/results/bench/figures"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sourcelink = False
templates_path = ["_templates"]
# Pages without pages below them need no list of these.
html_sidebars = {"index": [], "start": [], "choose": [], "compared": [], "faq": []}
html_theme_options = {
    "github_url": "https://github.com/skml-kalda/skml-kalda",
    "logo": {"text": html_title},
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "navbar_persistent": ["search-button"],
    "show_toc_level": 2,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "secondary_sidebar_items": ["page-toc"],
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
