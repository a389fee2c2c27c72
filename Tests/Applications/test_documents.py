"""What docs/openid.md shows is what runs."""

from pathlib import Path


def test_the_lines_of_python_are_those_of_the_shop(document):
    shop = Path(__file__).parents[2] / "examples" / "shop" / "shop.py"
    assert document("python") in shop.read_text()
