"""What a release shows to the world agrees with itself."""

import json
import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest
import yaml
from packaging.version import Version

import skml_kalda

ROOT = Path(__file__).parents[1]
# Extras of developers, and of competitors in one plan.
NOT_FOR_USERS = {"all", "docs", "lint", "mutation", "rivals", "test"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_citation_names_the_version_and_the_paper():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert skml_kalda.__version__.partition(".dev")[0] == citation["version"]
    assert citation["license"] == PROJECT["license"]
    (paper,) = citation["references"]
    assert [author["family-names"] for author in paper["authors"]] == ["Zheng", "Ding"]
    archived = json.loads((ROOT / ".zenodo.json").read_text("utf-8"))
    assert archived["description"] == citation["abstract"]
    for name in ("title", "keywords", "license"):
        assert archived[name] == citation[name]
    creators, authors = archived["creators"], citation["authors"]
    assert [each["name"] for each in creators] == [each["name"] for each in authors]


def test_all_is_every_extra_for_users():
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    named = re.fullmatch(r"skml-kalda\[(.+)\]", everything)[1].split(",")
    assert set(named) == set(extras) - NOT_FOR_USERS


def test_classifiers_are_the_versions_of_the_workflow():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))["jobs"]
    tested = jobs["tests"]["strategy"]["matrix"]["python"]
    prefix = "Programming Language :: Python :: 3."
    named = [each for each in PROJECT["classifiers"] if each.startswith(prefix)]
    assert [f"3.{each.removeprefix(prefix)}" for each in named] == tested
    assert PROJECT["requires-python"] == f">={tested[0]}"


def test_the_floor_is_the_oldest_version_of_every_dependency():
    extras = PROJECT["optional-dependencies"]
    for_users = (extras[name] for name in set(extras) - NOT_FOR_USERS)
    declared = {*PROJECT["dependencies"], *chain(*for_users)}
    oldest = dict(re.fullmatch(r"([\w-]+)(?:\[.*\])?>=(.+)", each).groups()
                  for each in declared if not each.startswith("skml-kalda"))  # fmt: skip
    lines = (ROOT / ".ci" / "floor.txt").read_text("utf-8").splitlines()
    floor = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert {n: Version(v) for n, v in floor.items()} == {n: Version(v) for n, v in oldest.items()}


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda p: p.name)
def test_every_workflow_and_form_is_yaml_and_pins_actions_by_hash(path):
    text = path.read_text("utf-8")
    assert isinstance(yaml.safe_load(text), dict)
    used = re.findall(r"uses: (.+)", text)
    assert [each for each in used if not re.fullmatch(r"\S+@[0-9a-f]{40} # v\S+", each)] == []


def test_links_of_the_readme_are_absolute():
    text = (ROOT / "README.md").read_text("utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert links
    assert [link for link in links if not link.startswith("https://")] == []
