"""The policy as data (spec 2.7, 3.6)."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_review.engine.documents import Limits, read_document
from ethos_review.engine.errors import DocumentError
from ethos_review.engine.policy import DEFAULT_POLICY, Policy, load_policy

OTHER = Policy(
    name="strict",
    version="2026-01",
    separate_duties=False,
    reviewed_synthesis=False,
    auto_seal="nothing_to_review",
    contract_version="1.1.0",
    require_signed_reports=True,
    limits=Limits(1000, 5, 6, 700, 8, 9),
)


def load(**settings):
    content = json.dumps({"artifact_type": "ethos_review.policy.v1", **settings}).encode()
    return load_policy(read_document("policy", "policy.json", content))


def test_a_policy_document_sets_what_it_names_and_keeps_the_other_defaults():
    loaded = load(name="house", version="3", reviewed_synthesis=False, limits={"entries": 10})
    assert loaded == Policy(name="house", version="3", reviewed_synthesis=False, limits=Limits(entries=10))


policies = st.builds(
    Policy,
    name=st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1),
    version=st.sampled_from(["1", "2026-01"]),
    separate_duties=st.booleans(),
    reviewed_synthesis=st.booleans(),
    auto_seal=st.sampled_from(["never", "nothing_to_review"]),
    contract_version=st.sampled_from(["auto", "1.0.0", "1.1.0"]),
    require_signed_reports=st.booleans(),
    limits=st.builds(Limits, *[st.integers(1, 200)] * len(fields(Limits))),
)


@given(policies)
def test_a_policy_reads_back_from_what_it_writes(policy):
    assert Policy.from_json(policy.to_json()) == policy
    assert load(**policy.to_json()) == policy


def test_every_setting_is_written():
    assert {field.name for field in fields(Policy)} == set(DEFAULT_POLICY.to_json())
    assert all(getattr(OTHER, field.name) != getattr(DEFAULT_POLICY, field.name) for field in fields(Policy))


def test_the_digest_changes_with_every_setting():
    digests = {
        replace(DEFAULT_POLICY, **{field.name: getattr(OTHER, field.name)}).sha256 for field in fields(Policy)
    }
    assert len(digests | {DEFAULT_POLICY.sha256}) == len(fields(Policy)) + 1


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"name": "house"},
        {"name": "house", "version": 3},
        {"name": "house", "version": "3", "reviewed_synthesys": True},
        {"name": "house", "version": "3", "auto_seal": "always"},
        {"name": "house", "version": "3", "separate_duties": "yes"},
        {"name": "house", "version": "3", "limits": {"entries": 0}},
        {"name": "house", "version": "3", "limits": {"pages": 1}},
    ],
)
def test_a_policy_that_its_schema_refuses_is_not_loaded(settings):
    with pytest.raises(DocumentError):
        load(**settings)
