from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "ethos_review.accounts"
