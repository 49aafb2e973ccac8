from django.apps import AppConfig


class ReviewsConfig(AppConfig):
    name = "ethos_review.reviews"
