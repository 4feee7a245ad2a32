# SPDX-License-Identifier: Apache-2.0
import pytest

from scenarios.play import Stage


@pytest.fixture(scope="session")
def stage(tmp_path_factory):
    stage = Stage(tmp_path_factory.mktemp("lake"))
    yield stage
    stage.close()
