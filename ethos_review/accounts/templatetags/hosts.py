"""Under what the browser asked for this page."""

from __future__ import annotations

from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from django import template
from django.template import RequestContext

register = template.Library()


class Address(NamedTuple):
    text: str
    by_name: str  # the same page under a host name; empty when none is known


@register.simple_tag(takes_context=True)
def ip_host(context: RequestContext) -> Address | None:
    """The IP address that stands where a host name could."""
    request = context["request"]
    asked = urlsplit(f"//{request.get_host()}")
    try:
        address = ip_address(asked.hostname or "")
    except ValueError:
        return None
    port = f":{asked.port}" if asked.port else ""
    by_name = f"{request.scheme}://localhost{port}{request.path}" if address.is_loopback else ""
    return Address(str(address), by_name)
