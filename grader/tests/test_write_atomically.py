"""A file is whole whoever reads it, and however many write it."""

import threading

from grader.machine.toolchain import write_atomically


def test_threads_may_write_one_file_at_once(tmp_path):
    path, failures = tmp_path / "note.json", []
    texts = [str(number) * 10_000 for number in range(8)]
    start = threading.Barrier(len(texts))

    def write(text: str) -> None:
        start.wait()
        try:
            for _ in range(50):
                write_atomically(path, text)
                assert path.read_text() in texts
        except (OSError, AssertionError) as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [entry.name for entry in tmp_path.iterdir()] == ["note.json"]
