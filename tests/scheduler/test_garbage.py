"""The collector rests inside, and goes on afterwards whatever happens."""

import gc

import pytest

from scheduler import garbage


def test_it_rests_inside_and_goes_on_afterwards():
    with garbage.left_alone():
        with garbage.left_alone():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_goes_on_after_an_error():
    with pytest.raises(ZeroDivisionError), garbage.left_alone():
        raise ZeroDivisionError
    assert gc.isenabled()
