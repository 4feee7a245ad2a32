# SPDX-License-Identifier: Apache-2.0
"""Spark with Delta as a judge (`make interop`): one session for all tests, and a lake that both engines use."""
import glob
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
JARS = pathlib.Path(os.environ.get("BRAID_DEPS_DIR", ROOT / ".deps")) / "spark" / "jars"


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    from pyspark.sql import SparkSession

    scratch = tmp_path_factory.mktemp("spark")
    builder = SparkSession.builder.appName("braid-interop").master("local[2]")
    for key, value in {
        "spark.jars": ",".join(glob.glob(f"{JARS}/*.jar")),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={scratch} -Duser.timezone=UTC",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",  # of listing by VACUUM
        "spark.log.level": "ERROR",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def query(spark):
    """query(sql) with Spark; rows as tuples."""
    return lambda sql: [tuple(row) for row in spark.sql(sql).collect()]
