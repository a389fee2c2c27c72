"""The examples in docs/openid.md are those that the tests run."""

from pathlib import Path


def test_the_python_example_is_part_of_the_shop(document):
    shop = Path(__file__).parents[2] / "examples" / "shop" / "shop.py"
    assert document("python") in shop.read_text()
