"""The Dockerfile builds what scripts/release builds, and labels it."""

import re
import shlex
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def arguments(text, revision):
    """The arguments of `swift build` in a text, as a shell passes them on."""
    command = re.search(r"swift build (?:[^\n]*\\\n)*[^\n]*", text)[0].replace('"${pinned[@]}"', "")
    command = command.replace("$(git rev-parse HEAD)", "$REVISION")
    script = f"swift() {{ printf '%s\\n' \"$@\"; }}; {command}"
    return subprocess.check_output(["sh", "-c", script], text=True, env={"REVISION": revision}).splitlines()


def test_the_image_is_built_with_the_arguments_of_a_release():
    commit = "4be1ac2d90f14be1ac2d90f14be1ac2d90f14be1"
    built = arguments(DOCKERFILE, commit)
    assert built == arguments((ROOT / "scripts/release").read_text(), commit)
    assert f"--build-id=0x{commit}" in built
    assert "--build-id=none" in arguments(DOCKERFILE, "")


def test_the_labels_of_the_image_have_values_that_are_known():
    final = DOCKERFILE.split("FROM scratch\n")[1]
    [labels] = re.findall(r"LABEL ((?:.*\\\n)*.*)", final)
    values = dict(label.split("=", 1) for label in shlex.split(labels.replace("\\\n", " ")))
    assert values == {
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.version": "$VERSION",
        "org.opencontainers.image.revision": "$REVISION",
        "org.opencontainers.image.source": "$SOURCE",
    }
    # A stage knows only the arguments that it declares.
    declared = set(re.findall(r"^ARG (\w+)=$", final.split("LABEL")[0], re.MULTILINE))
    assert declared == {"VERSION", "REVISION", "SOURCE"}
    script = (ROOT / "scripts/image").read_text()
    assert all(f'--build-arg {name}="${name.lower()}"' in script for name in ("VERSION", "COMMIT", "REVISION"))
