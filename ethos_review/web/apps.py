from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "ethos_review.web"
