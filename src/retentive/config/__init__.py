"""Settings: argument > `RETENTIVE_*` environment > `config.toml` in the user's config folder > default.

This package alone reads the environment and TOML. `settings.py` lists the settings, `groups.py` arranges them for
people, `checks.py` checks their values, `settings_file.py` changes one line of `config.toml`. This module finds the
value of each.
"""

import errno
import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from retentive.config.settings import SETTINGS, Config, Setting, Settings, config_file, data_folder, default_db
from retentive.errors import BadConfig, Invalid
from retentive.providers.keys import find_in_environment
from retentive.providers.registry import is_provider_spec, parse_spec

__all__ = [
    "SETTINGS",
    "Config",
    "Setting",
    "Settings",
    "Value",
    "config_file",
    "data_folder",
    "default_db",
    "load",
    "resolve",
]

SECRET = "***"  # noqa: S105 - shown in place of a secret
HUB_VARIABLE = "HF_ENDPOINT"
MAX_FILE_BYTES = 1_000_000  # of config.toml: a hundred times all settings with their comments


class Value(NamedTuple):
    """A setting's value and where it came from."""

    value: Any
    origin: str


def settings_path(environment: Mapping[str, str] = os.environ) -> Path:
    """The file that is read: `config.toml`, or what RETENTIVE_CONFIG names."""
    return Path(environment.get("RETENTIVE_CONFIG") or config_file())


def resolve(
    arguments: Mapping[str, Any] = MappingProxyType({}),
    environment: Mapping[str, str] = os.environ,
    file: Path | None = None,
) -> dict[str, Value]:
    """Return each setting with its value and origin. An argument that is `None` counts as not given."""
    path = file or settings_path(environment)
    written = _read_toml(path)
    unknown = sorted(set(written) - {setting.name for setting in SETTINGS})
    if unknown:
        raise BadConfig(f"{path}: unknown setting {unknown[0]!r}", f"Known: {', '.join(s.name for s in SETTINGS)}.")
    found = {setting.name: _find_value(setting, arguments, environment, written, path) for setting in SETTINGS}
    keys = _provider_key("llm", found, environment) | _provider_key("embedder", found, environment)
    return found | keys | _mirror(found, environment)


def mask_secrets(found: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values with secrets masked: tokens, and passwords in addresses."""
    secret = {setting.name for setting in SETTINGS if setting.secret}
    return {
        name: value._replace(value=SECRET if name in secret and value.value else mask_password(value.value))
        for name, value in found.items()
    }


def mask_password(value: Any) -> Any:
    """Mask the password of an address, up to the last @, in case one inside the password was not encoded."""
    if not isinstance(value, str) or "://" not in value:
        return value
    value = re.sub(r"(://[^:/@?]*):.*@", rf"\1:{SECRET}@", value)
    return re.sub(r"([?&][^=&]*(?:password|token)=)[^&]*", rf"\1{SECRET}", value, flags=re.IGNORECASE)


def find_setting(name: str) -> Setting:
    """Find a setting by its name, or by that of its environment variable."""
    wanted = name.strip().lower().replace("-", "_").removeprefix("retentive_")
    known = {setting.name: setting for setting in SETTINGS}
    if wanted in known:
        return known[wanted]
    from difflib import get_close_matches

    close = get_close_matches(wanted, known, cutoff=0.5)
    meant = f"Did you mean {' or '.join(close)}? " if close else ""
    raise Invalid(f"there is no setting {name[:40]!r}", f"{meant}`config.resolve()` lists them all.")


def check_for_file(setting: Setting, text: str) -> Any:
    """Return the value of a text as it is written into `config.toml`. Raise `BadConfig` if it must not be there."""
    if not setting.in_file:
        raise _refuse_in_file(setting, str(settings_path()))
    return _check(setting, text, "argument")


def _refuse_in_file(setting: Setting, path: str) -> BadConfig:
    reason = "it is a secret, and files get copied and shared"
    hint = f"Set {setting.variable} in the environment, or store it in the system keyring. It must not be in {path}."
    return BadConfig(f"{setting.name} must not be stored in a file: {reason}", hint)


def load(**arguments: Any) -> Config:
    """All settings, with these arguments before every other source."""
    return Config(**{name: found.value for name, found in resolve(arguments).items()})


def resolve_daily_log(settings: Config) -> str:
    """The value of `daily_log` for a server: `auto` is on, unless the store is in memory."""
    if settings.daily_log != "auto":
        return settings.daily_log
    return "off" if settings.db == ":memory:" else "on"


def _find_value(
    setting: Setting,
    arguments: Mapping[str, Any],
    environment: Mapping[str, str],
    written: Mapping[str, Any],
    path: Path,
) -> Value:
    if (given := arguments.get(setting.name)) is not None:
        return Value(_check(setting, given, "argument"), "argument")
    if given := environment.get(setting.variable):
        return Value(_check(setting, given, setting.variable), setting.variable)
    if setting.name in written and not setting.in_file:
        raise _refuse_in_file(setting, str(path))
    if setting.name in written:
        return Value(_check(setting, written[setting.name], str(path)), str(path))
    return Value(setting.default, "default")


def find_provider_key(spec: str, url: str) -> str:
    """The key in the provider's own variable; empty if an address was given, or if there is none."""
    return find_in_environment(parse_spec(spec).provider, url, os.environ)


def _provider_key(role: str, found: Mapping[str, Value], environment: Mapping[str, str]) -> dict[str, Value]:
    """The key that the provider's own tools use. It goes to the provider only: not where `llm_url` leads."""
    spec = found[role].value
    if found[f"{role}_key"].value or not is_provider_spec(spec):
        return {}
    provider = parse_spec(spec).provider
    key = find_in_environment(provider, found[f"{role}_url"].value, environment)
    if not key:
        return {}
    setting = next(setting for setting in SETTINGS if setting.name == f"{role}_key")
    return {setting.name: Value(_check(setting, key, provider.key_variable), provider.key_variable)}


def _mirror(found: Mapping[str, Value], environment: Mapping[str, str]) -> dict[str, Value]:
    """The mirror of the hub that HF_ENDPOINT names, which other programs read too."""
    given = environment.get(HUB_VARIABLE, "")
    if not given or found["hub_url"].origin != "default":
        return {}
    setting = next(setting for setting in SETTINGS if setting.name == "hub_url")
    return {"hub_url": Value(_check(setting, given, HUB_VARIABLE), HUB_VARIABLE)}


def _check(setting: Setting, given: Any, origin: str) -> Any:
    try:
        return setting.check(", ".join(map(str, given)) if isinstance(given, list | tuple) else str(given))
    except ValueError as error:
        mask_secrets = SECRET if setting.secret else repr(given)
        raise BadConfig(f"{setting.name} = {mask_secrets} ({origin}): {error}") from error


def _read_toml(path: Path) -> dict[str, Any]:
    import tomllib

    from retentive.fs.paths import translate_os_error
    from retentive.fs.regular_files import read_regular

    if str(path) == os.devnull:  # the usual way to say: no file
        return {}
    try:
        return tomllib.loads(read_regular(path, MAX_FILE_BYTES).decode("utf-8"))
    except FileNotFoundError:
        return {}
    except Invalid as error:
        raise BadConfig(str(error), error.hint) from error
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise translate_os_error(error, f"{path} cannot be read") from error
        raise BadConfig(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise BadConfig(f"{path}: {error}") from error


def environment() -> Mapping[str, str]:
    """The environment, for code that looks for the settings of other programs."""
    return os.environ


def wants_colour(is_terminal: bool) -> bool:
    """Whether to print colours: NO_COLOR and FORCE_COLOR decide, otherwise whether the output is a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (is_terminal and os.environ.get("TERM") != "dumb")
