"""Whose turn it is at the GPU: timing alone, the rest side by side."""

from __future__ import annotations

import threading

import pytest

from grader.machine import gpu


@pytest.fixture(autouse=True)
def own_lock(tmp_path, monkeypatch):
    monkeypatch.setattr(gpu.tempfile, "gettempdir", lambda: str(tmp_path))


def enters(*, alone: bool, seconds: float) -> tuple[threading.Thread, bool]:
    """A thread that takes a turn, and whether it got it within the time."""
    inside = threading.Event()

    def take() -> None:
        with gpu.turn(alone=alone):
            inside.set()

    thread = threading.Thread(target=take)
    thread.start()
    return thread, inside.wait(seconds)


def test_plain_runs_share_the_gpu():
    with gpu.turn(alone=False):
        thread, entered = enters(alone=False, seconds=20)
    thread.join()
    assert entered


@pytest.mark.parametrize(("first", "second"), [(True, True), (True, False), (False, True)])
def test_what_is_timed_waits_and_is_waited_for(first, second):
    with gpu.turn(alone=first):
        thread, entered = enters(alone=second, seconds=0.2)
        assert not entered
    thread.join(20)
    assert not thread.is_alive()
