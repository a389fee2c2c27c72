"""The packages that a machine needs to run the executable."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_document_lists_the_packages_of_the_image():
    image = re.search(r"AS runtime\n.*?recommends \\\n(.*?)\\?\n    &&", (ROOT / "Dockerfile").read_text(), re.DOTALL)[
        1
    ]
    document = (ROOT / "docs" / "operating.md").read_text()
    listed = re.search(r"apt-get install --no-install-recommends (.*?)\n```", document, re.DOTALL)[1]
    # jq is needed only while the image is built.
    assert set(listed.replace("\\", "").split()) == set(image.replace("\\", "").split()) - {"jq"}
