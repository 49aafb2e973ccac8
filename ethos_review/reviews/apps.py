from django.apps import AppConfig
from django.core import checks


class ReviewsConfig(AppConfig):
    name = "ethos_review.reviews"

    def ready(self) -> None:
        """A broken policy or verifier key stops the start; so does a missing signing key, in production."""
        from ethos_review.reviews import policies, signing

        policies.current_policy()
        policies.verifier_keys()
        checks.register(checks.Tags.security)(signing.check_signing_key)
