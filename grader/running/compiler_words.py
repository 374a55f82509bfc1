"""What the compiler says, for somebody who has not met its messages yet."""

from __future__ import annotations

import difflib
import re

# No business of a student: the flags are the grader's.
_FLAGS = re.compile(r"\s*The experimental flag '[^']*' can be used to allow this\.*")

# What CUDA 13 no longer has, and what took its place.
_REMOVED = {
    "cudaThreadSynchronize": "cudaDeviceSynchronize()",
    "cudaThreadExit": "cudaDeviceReset()",
    "cudaThreadSetCacheConfig": "cudaDeviceSetCacheConfig()",
    "cudaThreadSetLimit": "cudaDeviceSetLimit()",
    "cudaMemcpyToArray": "cudaMemcpy2DToArray()",
    "cudaMemcpyFromArray": "cudaMemcpy2DFromArray()",
    "cudaBindTexture": "a texture object",
    "cudaUnbindTexture": "a texture object",
    "cudaConfigureCall": "kernel<<<grid, block>>>(...)",
    "cudaLaunch": "kernel<<<grid, block>>>(...)",
    "cudaSetupArgument": "kernel<<<grid, block>>>(...)",
    "__shfl": "__shfl_sync(mask, ...)",
    "__shfl_down": "__shfl_down_sync(mask, ...)",
    "__shfl_up": "__shfl_up_sync(mask, ...)",
    "__shfl_xor": "__shfl_xor_sync(mask, ...)",
    "__ballot": "__ballot_sync(mask, ...)",
}
_UNDEFINED = re.compile(r'^identifier "([^"]{1,200})" is undefined')
_UNSET = re.compile(r'variable "(\w+)" is used before its value is set')
_WITHOUT_RETURN = re.compile(
    r'missing return statement at end of non-void function "(?:\w+::)*(\w+)"'
)
# What CUDA calls it, for names that are nearly right.
_NAMES = (
    "threadIdx", "blockIdx", "blockDim", "gridDim", "dim3", "__syncthreads", "__shared__",
    "__global__", "__device__", "cudaMalloc", "cudaMemcpy", "cudaFree", "cudaMemset", "float",
    "cudaDeviceSynchronize", "cudaGetLastError", "cudaMemcpyHostToDevice",
    "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice", "__syncwarp", "__restrict__",
    "sizeof", "return", "float4", "size_t", "reinterpret_cast", "constexpr", "const",
)  # fmt: skip

_ADVICE = (
    (
        r'__host__ function\("(?:std::)?ceilf?"\)',
        "An integer divided by an integer is rounded down before ceil sees it: round up by "
        "(whole + piece - 1) / piece.",
    ),
    (
        r"calling a __device__ function",
        "Only kernels and functions marked __device__ may call this; the others run on the host.",
    ),
    (
        r"calling a .*__host__ function",
        "A kernel may only call functions marked __device__ or __host__ __device__.",
    ),
    (r'^expected a ";"', "Look at the end of the line before, too."),
    (r'^expected a "\)"', "Count the parentheses of this line: one is open to its end."),
    (
        r'expected a "\}"|at the end of the file',
        "A brace is open to the end of the file: each { of a function, loop or if needs its }.",
    ),
    (
        r"^expected a declaration|invalid specifier for structured binding",
        "A brace too many has ended the function before this line.",
    ),
    (r"^expected a statement", "Is there an else without its if, or a brace too many before it?"),
    (r"^expected an expression", "Something is missing between two signs of this line."),
    (
        r"^expected an identifier",
        "A name is missing here, or a word of the language stands for one.",
    ),
    (r'^expected a ">>>"', "Between grid and block stands a comma: kernel<<<grid, block>>>(...)."),
    (
        r"host function call cannot be configured",
        "Only a function marked __global__ can be launched: __global__ void kernel(...).",
    ),
    (
        r"__global__ function call must be configured",
        "A kernel is not called like a function: write kernel<<<grid, block>>>(...).",
    ),
    (
        r"too (?:few|many) arguments in function call",
        "Hold the arguments against the parameters where the function is declared, one by one.",
    ),
    (
        r"must be a modifiable lvalue",
        "What is declared const, like the elements of M and N, cannot be written to; an array as a "
        "whole, or a row of one, cannot either: give all its indices.",
    ),
    (
        r'"const float \*" cannot be used to initialize .*"float \*"|'
        r'"const float \*" is incompatible with parameter of type "float \*"',
        "Keep the const: const float* points to what is only read.",
    ),
    (
        r'"const \w+ \*" is incompatible with parameter of type "void \*"',
        "What is const is only read, and this argument is written to: the target stands first.",
    ),
    (
        r'^argument of type "(?:const )?(\w+) \*" is incompatible with parameter of type '
        r'"(?:const )?(?!\1|void)\w+ \*"',
        "The two point to different types: give the array the type that the parameter has.",
    ),
    (
        r"^argument of type .* is incompatible with parameter of type",
        "The arguments are in another order than the parameters, or one is missing: hold them "
        "against the declaration.",
    ),
    (
        r"must have pointer-to-object type",
        "A matrix is one row of numbers behind a pointer, with one index: row * width + column.",
    ),
    (
        r"must have a constant value|variable length array",
        "The size of an array must be known to the compiler: a constexpr or #define, no variable "
        "and no parameter.",
    ),
    (r"must have a void return type", "A kernel returns nothing: it is __global__ void."),
    (
        r'^class "(?:uint3|dim3|__cuda_builtin_\w+)" has no member',
        "Of threadIdx, blockIdx, blockDim and gridDim there are .x, .y and .z, in small letters.",
    ),
    (
        r'^no operator "[^"]+" matches these operands.*(?:dim3|uint3)|'
        r'conversion function from "(?:const )?(?:dim3|uint3)" to',
        "This has three numbers, .x, .y and .z: say which one.",
    ),
    (
        r'^no instance of constructor "dim3',
        "A dim3 is made of one to three whole numbers: dim3(x, y).",
    ),
    (
        r'a value of type "void \*" cannot be',
        "C++ wants a cast: (float*)malloc(bytes). Memory of the device is made by "
        "cudaMalloc(&pointer, bytes).",
    ),
    (
        r'a value of type "(?:enum )?cudaError(?:_t)?" cannot be',
        "A call of CUDA returns whether it went well; what it makes goes where its first argument "
        "points.",
    ),
    (
        r"must have arithmetic or",
        "An array, a row of one or a pointer is no number: give all its indices.",
    ),
    (r"^explicit type is missing", "A function says what it returns: __global__ void kernel(...)."),
    (
        r"has already been declared in the current scope",
        "Declare it once; later lines use it without its type.",
    ),
    (
        r"must have integral or unscoped enum type",
        "% and array indices work on whole numbers: one of these is a float or a pointer.",
    ),
    (
        r"^return value type does not match",
        "A kernel returns nothing: it stores its result, P[...] = sum.",
    ),
    (
        r'value of type "(?:const )?float \*" cannot be (?:used to initialize|assigned to)',
        "This is the pointer; one of its elements has an index: M[...].",
    ),
    (
        r"initializer not allowed for __shared__",
        "Shared memory has no values at first: declare it, then let the threads fill it.",
    ),
    (
        r"No such file or directory|could not open source file|cannot open source file",
        "There is no header of that name: is it spelt right?",
    ),
    (
        r'^no operator "(?:<<|>>)" matches',
        "A launch has three of each: kernel<<<grid, block>>>(...).",
    ),
    (r"missing closing quote|expects \"FILENAME\"", "A quotation mark is missing at the end."),
    (
        _UNDEFINED.pattern,
        "Is it spelt as where it is declared, and declared before this line, in these braces?",
    ),
)


def plain(message: str) -> str:
    """A compiler's message without what does not concern a student, and without a full stop."""
    return _FLAGS.sub("", message).rstrip(". ")


def of_name(name: str) -> str:
    """What to do about an undefined name of CUDA's; "" if it is none."""
    if name in _REMOVED:
        return f"CUDA 13 has no {name} any more: use {_REMOVED[name]}."
    near = [one for one in _NAMES if one.strip("_") == name.strip("_")]
    near = near or difflib.get_close_matches(name, _NAMES, 1, 0.8)
    return f"Is {near[0]} meant?" if near and near[0] != name else ""


def advice(message: str) -> str:
    """What to do about it, for the messages that beginners meet most; else ""."""
    undefined = _UNDEFINED.match(message)
    if undefined and (meant := of_name(undefined[1])):
        return meant
    return next((text for pattern, text in _ADVICE if re.search(pattern, message)), "")


def has_no_effect(message: str) -> bool:
    """Whether it is nvcc's warning that an expression does nothing."""
    return "expression has no effect" in message


def unset_variable(message: str) -> str:
    """The variable of nvcc's warning that it is used without a value; "" of other messages."""
    unset = _UNSET.search(message)
    return unset[1] if unset else ""


def function_without_return(message: str) -> str:
    """The function of nvcc's warning that it can end without a return; "" of other messages."""
    found = _WITHOUT_RETURN.search(message)
    return found[1] if found else ""


def assigns_where_compared(message: str) -> bool:
    """Whether it is nvcc's warning of = where == may be meant."""
    return 'use of "=" where "=="' in message


def compares_unsigned_with_0(message: str) -> bool:
    """Whether it is nvcc's warning that an unsigned number is never below 0."""
    return "pointless comparison of unsigned" in message


def is_beyond_an_int(message: str) -> bool:
    """Whether it is nvcc's warning that constants give more than an int holds."""
    return "integer operation result is out of range" in message
