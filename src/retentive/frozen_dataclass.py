"""`dataclass`, but cheap to define: for frozen classes with slots.

The standard decorator compiles seven methods for each class when its module is imported. That takes 0.33 ms a class,
and a program that opens a store imports more than a hundred. Here the classes share methods that are compiled once,
and the constructor is compiled when the first value is made: 0.03 ms a class.

A class behaves as with the standard decorator, and `fields`, `replace`, `asdict`, `copy` and `pickle` work. What is not
here: `__post_init__`, `InitVar`, keyword-only fields, and an order. Other dataclasses use the standard decorator.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

__all__ = ["dataclass"]

T = TypeVar("T")

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool, slots: bool) -> Callable[[type[T]], type[T]]:
        """Make a class of values. Both options are required: they say to readers and type checkers what it is."""
        if not (frozen and slots):
            raise TypeError("only frozen classes with slots; take `dataclasses.dataclass` for others")
        return _define


def _define(cls: type[T]) -> type[T]:
    """Give a class its fields, slots and methods."""
    documentation = cls.__doc__
    cls.__doc__ = documentation or cls.__name__  # without one, the standard decorator writes one: 0.1 ms
    made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    made.__doc__ = documentation
    for name, method in {**_SHARED_METHODS, **_make_comparison(made), "__init__": _make_first_init(made)}.items():
        if name not in cls.__dict__:
            setattr(made, name, method)
    return made


def _make_comparison(cls: type[Any]) -> dict[str, Callable[..., Any]]:
    """`__eq__` and `__hash__`, which compare the values of the fields."""
    names = [field.name for field in dataclasses.fields(cls) if field.compare]
    read = attrgetter(*names) if names else _read_nothing

    def is_equal(self: Any, other: object) -> Any:
        return read(self) == read(other) if other.__class__ is self.__class__ else NotImplemented

    def compute_hash(self: Any) -> int:
        return hash(read(self))

    return {"__eq__": is_equal, "__hash__": compute_hash}


def _read_nothing(_: object) -> tuple[()]:
    return ()


def _make_first_init(cls: type[Any]) -> Callable[..., None]:
    """An `__init__` that replaces itself by the compiled one when it is first called."""

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        cls.__init__ = _compile_init(cls)
        cls.__init__(self, *args, **kwargs)

    return init


def _compile_init(cls: type[Any]) -> Callable[..., None]:
    """Compile `__init__`. A slot is set by its descriptor, because `__setattr__` refuses."""
    parameters, body = [], []
    names: dict[str, Any] = {"_MISSING": MISSING}
    for name, field in ((field.name, field) for field in dataclasses.fields(cls)):
        names[f"_set_{name}"] = getattr(cls, name).__set__
        value = name
        if field.default_factory is not MISSING:
            names[f"_make_{name}"] = field.default_factory
            parameters.append(f"{name}=_MISSING")
            value = f"_make_{name}() if {name} is _MISSING else {name}"
        elif field.default is not MISSING:
            names[f"_default_{name}"] = field.default
            parameters.append(f"{name}=_default_{name}")
        else:
            parameters.append(name)
        body.append(f"    _set_{name}(self, {value})")
    exec("\n".join([f"def __init__({', '.join(['self', *parameters])}):", *body, "    return None"]), names)  # noqa: S102
    init: Callable[..., None] = names["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _write(self: Any) -> str:
    shown = [f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr]
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _refuse_assignment(_: object, name: str, __: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(_: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _read_state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _restore_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


_SHARED_METHODS: dict[str, Callable[..., Any]] = {
    "__repr__": _write,
    "__setattr__": _refuse_assignment,
    "__delattr__": _refuse_deletion,
    "__getstate__": _read_state,
    "__setstate__": _restore_state,
}
