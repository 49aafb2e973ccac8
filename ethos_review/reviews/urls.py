"""Addresses of reviews."""

from __future__ import annotations

from django.urls import include, path

from ethos_review.reviews.views import (
    downloads,
    help,
    insights,
    keys,
    lease,
    policy,
    queue,
    release,
    review,
    upload,
    verify,
)

of_one_review = [
    path("", review.review, name="review"),
    path("lease/", lease.lease, name="lease"),
    path("changes/", review.changes, name="review_changes"),
    path("claims/", review.more_claims, name="more_claims"),
    path("claims/<int:position>/", review.claim_card, name="claim_card"),
    path("claims/<int:position>/decide/", review.decide_claim, name="decide_claim"),
    path("claims/<int:position>/undo/", review.undo_decision, name="undo_decision"),
    path("answer/", review.answer, name="answer"),
    path("seal/", release.seal_review, name="seal_review"),
    path("release/", release.release, name="release"),
    path("released/", release.listing, {"part": "released"}, name="released"),
    path("withheld/", release.listing, {"part": "withheld"}, name="withheld"),
    path("release/replay/", release.replay, name="replay"),
    path("documents/<str:role>/", downloads.document, name="download_document"),
    path("contract-decision.json", downloads.contract_decision, name="download_contract_decision"),
    path("release.dsse.json", downloads.envelope, name="download_envelope"),
]
urlpatterns = [
    path("", queue.queue, name="queue"),
    path("next/", lease.next_review, name="next_review"),
    path("insights/", insights.insights, name="insights"),
    path("help/", help.help_page, name="help"),
    path("upload/", upload.upload, name="upload"),
    path("upload/recognise/<str:role>/", upload.recognise, name="recognise"),
    path("upload/sample/", upload.load_sample, name="load_sample"),
    path("reviews/<uuid:review_id>/", include(of_one_review)),
    path("policy/", policy.policy, name="policy"),
    path("policy/<str:sha256>/", policy.policy, name="policy_with_digest"),
    path("verify/", verify.verify, name="verify"),
    path(".well-known/ethos-review-keys.json", verify.key_set, name="key_set"),
    path("keys/", keys.keys, name="keys"),
    path("keys/<str:key_id>.pem", downloads.public_key, name="download_public_key"),
]
