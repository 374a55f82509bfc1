"""Squares of 16 transposed in A; S stays as it is, since only squares of one element are safe."""

T = 16


def reference(A, S, width):
    squares = A.reshape(width // T, T, width // T, T)
    return {"A": squares.transpose(0, 3, 2, 1).reshape(width, width), "S": S}
