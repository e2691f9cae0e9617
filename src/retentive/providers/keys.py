"""Finds the keys of providers: in the environment, else in the keyring if the package `keyring` is installed.

The key in a provider's own variable goes to that provider only. If another address is set, its key must be set, too: in
our own settings, or in the keyring under the name of the host.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from retentive.providers.registry import Provider

SERVICE = "retentive"  # the service under which keys are kept: `keyring set retentive openai`


def find_in_environment(provider: Provider, url: str, environment: Mapping[str, str]) -> str:
    """Find the key that the provider's own tools use; "" if another address is set."""
    return "" if url or not provider.key_variable else environment.get(provider.key_variable, "")


def find_in_keyring(provider: Provider, url: str) -> str:
    """Find the key under the provider's name or, if an address is set, under its host; "" if there is none."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return ""
    try:
        return keyring.get_password(SERVICE, name_in_keyring(provider, url)) or ""
    except KeyringError:  # no keyring runs here, or it is locked
        return ""


def name_in_keyring(provider: Provider, url: str) -> str:
    return (urlsplit(url).netloc.rpartition("@")[2] if url else "") or provider.name
