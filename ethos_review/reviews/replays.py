"""Replay of sealed reviews: the release recomputed from the kept bytes (spec 3.8)."""

from __future__ import annotations

from collections.abc import Iterator

from ethos_review.engine.envelope import EnvelopeError, KeyFileError, open_envelope
from ethos_review.engine.errors import DocumentError
from ethos_review.engine.statement import Difference, replay
from ethos_review.reviews.assessments import as_received, verifier_keys_of
from ethos_review.reviews.models import Document, Release
from ethos_review.reviews.signing import key_of, trusted_key


def replay_release(release: Release) -> tuple[Difference, ...]:
    """Recompute the release from the kept documents, under its own recorded policy; empty when nothing differs.

    An envelope that its key did not sign, or that holds no release, is the only difference then. `review` should
    be joined.
    """
    documents = Document.objects.with_content().filter(review=release.review)
    try:
        key = trusted_key(key_of(release))
        payload = open_envelope(bytes(release.envelope), [key.key]).payload
        return replay(payload, as_received(documents), verifier_keys_of(release.review))
    except (EnvelopeError, KeyFileError, DocumentError) as refused:
        return (Difference("", None, None, str(refused)),)


def replay_every_release() -> Iterator[tuple[Release, tuple[Difference, ...]]]:
    """Every release in the order of their seals, one in memory at a time."""
    releases = Release.objects.select_related("review").order_by("id")
    for release in releases.iterator(chunk_size=1):
        yield release, replay_release(release)
