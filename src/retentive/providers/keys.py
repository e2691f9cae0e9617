"""Keys of providers: from the environment, else from the system's keyring if the package `keyring` is installed.

The key of a provider's own variable goes to that provider only. Where an address was given, the key must have been
given for it, too: as a setting of ours, or in the keyring under the name of the host.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from retentive.providers.registry import Provider

SERVICE = "retentive"  # the service under which keys are kept: `keyring set retentive openai`


def find_in_environment(provider: Provider, url: str, environment: Mapping[str, str]) -> str:
    """The key that the provider's own tools use; empty if another address was given."""
    return "" if url or not provider.key_variable else environment.get(provider.key_variable, "")


def find_in_keyring(provider: Provider, url: str) -> str:
    """The key under the provider's name or, where an address was given, under its host. Empty if there is none."""
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
