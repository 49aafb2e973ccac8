"""The release gate for language-model answers: a pure engine with a reviewer's web application around it."""

__version__ = "0.1.0"
