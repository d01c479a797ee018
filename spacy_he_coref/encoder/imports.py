"""Import of the libraries around encoders, without what only a compiler needs.

transformers, from 4.52 on, names one class of torch's compiler when it is imported, and
marks one function as not to be compiled. Either imports all of the compiler, which took
half of the time in which a pipeline was loaded, and nothing here compiles anything.
"""

import functools
import importlib
import sys
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Callable, Iterator, Optional

import torch

_COMPILER = "torch._dynamo"
_MODULE = f"{_COMPILER}._trace_wrapped_higher_order_op"
_CLASS = "TransformGetItemToIndex"


@contextmanager
def without_compiler() -> Iterator[None]:
    """While this lasts, imports get stand-ins for both.

    Each does what it stands for, but imports the compiler only when it is called.
    Nothing changes where the compiler is imported already, and who asks the module for
    anything else gets the module.

    YIELDS (None): Once.
    """
    disable = getattr(getattr(torch, "compiler", None), "disable", None)
    if _COMPILER in sys.modules or _MODULE in sys.modules or disable is None:
        yield
        return

    def disable_when_called(
        fn: Optional[Callable[..., Any]] = None, *args: Any, **kwargs: Any
    ) -> Any:
        if fn is None:
            return lambda fn: disable_when_called(fn, *args, **kwargs)

        @functools.wraps(fn)
        def call(*values: Any, **options: Any) -> Any:
            return disable(fn, *args, **kwargs)(*values, **options)

        return call

    module = ModuleType(_MODULE)
    setattr(module, _CLASS, _make_instance)
    module.__dict__["__getattr__"] = _look_up
    sys.modules[_MODULE] = module
    torch.compiler.disable = disable_when_called
    try:
        yield
    finally:
        torch.compiler.disable = disable
        if sys.modules.get(_MODULE) is module:
            del sys.modules[_MODULE]


def _make_instance(*args: Any, **kwargs: Any) -> Any:
    return getattr(importlib.import_module(_MODULE), _CLASS)(*args, **kwargs)


def _look_up(name: str) -> Any:
    # Python asks for these itself when it handles a module.
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    sys.modules.pop(_MODULE, None)
    return getattr(importlib.import_module(_MODULE), name)
