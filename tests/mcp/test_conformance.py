"""The protocol's own conformance suite against `retentive serve`.

Its scenarios are for a server with tools, resources and prompts made for them. Those listed here ask nothing of the
kind; of `server-stateless` the checks that would need such a tool are told apart by what they say.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.client import serving
from tests.mcp.node import conformance, node_or_skip
from tests.sizes import choose

HANDSHAKE = ("server-initialize", "server-session-lifecycle", "ping")
LISTS = ("tools-list", "resources-list", "prompts-list")
ERROR = ("tools-call-error",)  # of a tool that is not there; from 2026-07-28 on an error of the protocol
HTTP = ("server-sse-multiple-streams", "dns-rebinding-protection")
MODERN = (
    "server-stateless",
    "sep-2164-resource-not-found",
    "caching",
    "http-header-validation",
    "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
)
SCENARIOS = {
    "2025-03-26": ("server-session-lifecycle",),
    "2025-06-18": (*HANDSHAKE, *LISTS, *ERROR),
    "2025-11-25": (*HANDSHAKE, *LISTS, *ERROR, *HTTP),
    "2026-07-28": (*LISTS, *HTTP, *MODERN),
}

VERSIONS = choose({version: SCENARIOS[version] for version in ("2025-11-25", "2026-07-28")}, SCENARIOS)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    node_or_skip()
    with serving(Path(tmp_path_factory.mktemp("conformance")) / "memory.db") as address:
        yield address


@pytest.mark.parametrize(
    ("version", "scenario"), [(version, each) for version, scenarios in VERSIONS.items() for each in scenarios]
)
def test_a_scenario_is_passed_without_a_warning(url: str, version: str, scenario: str) -> None:
    checks = conformance(url, scenario, version)
    amiss = [each for each in checks if each["status"] in ("FAILURE", "WARNING")]
    assert [each for each in amiss if not each.get("errorMessage", "").startswith("Not testable")] == []
    assert any(each["status"] == "SUCCESS" for each in checks)
