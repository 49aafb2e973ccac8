"""The quick constructor makes the same instances as the ordinary one."""

from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from ethos_review.engine.frozen import quick_constructor


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int
    tags: tuple[str, ...] = field(default=(), repr=False)


def test_a_quickly_made_instance_is_equal_hashed_and_shown_alike():
    made, ordinary = quick_constructor(Point)(1, 2, ("a",)), Point(1, 2, ("a",))
    assert type(made) is Point
    assert (made, hash(made), repr(made)) == (ordinary, hash(ordinary), repr(ordinary))
    assert replace(made, x=5) == Point(5, 2, ("a",))


def test_a_quickly_made_instance_is_frozen():
    made = quick_constructor(Point)(1, 2, ())
    with pytest.raises(FrozenInstanceError):
        made.x = 5


def test_every_field_has_to_be_given():
    with pytest.raises(TypeError):
        quick_constructor(Point)(1, 2)
