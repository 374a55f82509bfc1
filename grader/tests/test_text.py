"""Text from a submission: one line, printable, short; and which library a binary names."""

from grader.running.named_library import named_library
from grader.text import clean


def test_what_is_harmless_stays():
    assert clean('identifier "ßum" is undefined: a < b') == 'identifier "ßum" is undefined: a < b'


def test_control_characters_and_directions_go():
    assert clean("a\x1b[2Jb\x07\n\n::error::c\u202ed\tend") == "a?[2Jb? ::error::c?d end"


def test_long_text_is_cut():
    text = clean("x" * 1_000_000)
    assert len(text) == 600 and text.endswith("...")
    assert clean("abcdef", 5) == "ab..."


def test_libraries_are_found_in_a_binary(tmp_path):
    binary = tmp_path / "submission.so"
    for content, name in (
        (b"\0libcublas.so.13\0", "libcublas.so.13"),
        (b"\0/opt/libcublasLt.so\0", "libcublasLt.so"),
        (b"\0libcudart.so.13\0libstdc++.so.6\0", ""),
    ):
        binary.write_bytes(content)
        assert named_library(binary) == name
    assert named_library(tmp_path / "none") == ""
