"""One addition for each element: exactly the float that is nearest to the sum."""


def reference(A, B):
    return A + B
