"""What KWOK is told to play: nodes and pods by its own stages, volumes by ours alone."""

from __future__ import annotations

from pathlib import Path

import yaml

from sandbox.stages import kwok_configuration

POD_STAGE = "kind: Stage\nmetadata: {name: pod-ready}\nspec: {resourceRef: {kind: Pod}}\n"
VOLUME_STAGE = "kind: Stage\nmetadata: {name: theirs}\nspec: {resourceRef: {kind: PersistentVolumeClaim}}\n"
KUSTOMIZATION = "kind: Kustomization\nresources: []\n"


def test_kwoks_volume_stages_and_other_files_are_left_out(tmp_path: Path) -> None:
    paths = []
    for name, text in (("a", POD_STAGE), ("b", f"{VOLUME_STAGE}---\n{POD_STAGE}"), ("c", KUSTOMIZATION)):
        paths.append(tmp_path / f"{name}.yaml")
        paths[-1].write_text(text, encoding="utf-8")
    documents = list(yaml.safe_load_all(kwok_configuration(paths, scaled_objects=False)))
    assert [document["metadata"]["name"] for document in documents] == [
        "pod-ready",
        "pod-ready",
        "sandbox-volume-provision",
        "sandbox-volume-delete",
    ]


def test_kedas_stand_in_comes_only_where_its_kind_is_served() -> None:
    def names(served: bool) -> set[str]:
        documents = yaml.safe_load_all(kwok_configuration([], scaled_objects=served))
        return {document["metadata"]["name"] for document in documents}

    assert names(True) - names(False) == {"sandbox-keda-stand-in"}
