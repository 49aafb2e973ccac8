"""Key sets, and the time from which a key no longer signs."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from securesystemslib.signer import CryptoSigner

from ethos_review.engine.contracts import check_against_schema
from ethos_review.engine.errors import DocumentError
from ethos_review.engine.keys import TrustedKey, key_ids_in_force, key_set_to_json, read_key_set
from tests.engine.mutations import EXAMPLES, example_value

KEY = CryptoSigner.generate_ed25519().public_key
OTHER = CryptoSigner.generate_ecdsa().public_key
END = "2026-02-01T00:00:00Z"
ROTATED = example_value(EXAMPLES / "key-set" / "valid" / "rotated.json")


def read(value):
    return read_key_set("keys.json", json.dumps(value).encode())


def problems(value):
    with pytest.raises(DocumentError) as refused:
        read(value)
    check_against_schema("invalid_request", refused.value.to_json(), "invalid-request")
    return [(problem.pointer, problem.code) for problem in refused.value.problems]


def test_a_key_set_comes_back_as_it_was_written():
    keys = (TrustedKey(KEY), TrustedKey(OTHER, END))
    document = key_set_to_json(keys)
    check_against_schema("key_set", document, "key-set")
    assert read(document) == keys


@pytest.mark.parametrize(
    ("member", "value", "code"),
    [
        ("key_id", "0" * 64, "wrong_key_id"),
        ("public_key", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "not_a_public_key"),
        ("retired_at", "2026-02-30T00:00:00Z", "not_a_time"),
        ("retired_at", "yesterday", "wrong_format"),
        ("state", "active", "unknown_member"),
    ],
)
def test_a_key_set_with_a_fault_is_refused_at_its_place(member, value, code):
    entry = ROTATED["keys"][0] | {member: value}
    assert (f"/keys/0/{member}", code) in problems({**ROTATED, "keys": [entry]})


def test_the_public_key_of_another_entry_is_not_believed():
    first, second = ROTATED["keys"]
    assert problems({**ROTATED, "keys": [first | {"public_key": second["public_key"]}]}) == [
        ("/keys/0/key_id", "wrong_key_id")
    ]


@pytest.mark.parametrize(
    ("at", "signs"),
    [
        ("2026-01-31T23:59:59.999999+00:00", True),
        ("2026-02-01T00:00:00+00:00", False),
        ("2026-02-01T00:30:00+01:00", True),
        ("2027-01-01T00:00:00+00:00", False),
    ],
)
def test_a_key_signs_until_it_is_retired(at, signs):
    assert TrustedKey(KEY, END).signs_at(datetime.fromisoformat(at)) == signs
    assert TrustedKey(KEY).signs_at(datetime.fromisoformat(at))


def test_a_key_listed_twice_ends_when_the_first_one_does():
    keys = [TrustedKey(KEY), TrustedKey(KEY, END)]
    assert key_ids_in_force([KEY.keyid], keys, datetime(2026, 3, 1, tzinfo=UTC)) == ()
    assert key_ids_in_force([KEY.keyid], keys, datetime(2026, 1, 1, tzinfo=UTC)) == (KEY.keyid,)
