from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "ethos_review.audit"
