// SPDX-License-Identifier: Apache-2.0
// The fields of a checkpoint as a flat list of columns, shared by reading and writing (PROTOCOL: Checkpoint Schema).
#pragma once

#include <cstddef>

namespace braid::engine {

enum CheckpointColumn : size_t {
  kAddPath, kAddPartitionValues, kAddSize, kAddModificationTime, kAddDataChange, kAddStats, kAddTags, kAddDvStorageType, kAddDvPath,
  kAddDvOffset, kAddDvSize, kAddDvCardinality, kAddBaseRowId, kAddDefaultRowCommitVersion, kAddClusteringProvider,
  kRemovePath, kRemoveDeletionTimestamp, kRemoveDataChange, kRemoveExtended, kRemovePartitionValues, kRemoveSize, kRemoveStats,
  kRemoveTags, kRemoveDvStorageType, kRemoveDvPath, kRemoveDvOffset, kRemoveDvSize, kRemoveDvCardinality, kRemoveBaseRowId,
  kRemoveDefaultRowCommitVersion,
  kMetaId, kMetaName, kMetaDescription, kMetaProvider, kMetaOptions, kMetaSchema, kMetaPartitionColumns, kMetaConfiguration,
  kMetaCreatedTime,
  kProtocolReader, kProtocolWriter, kProtocolReaderFeatures, kProtocolWriterFeatures,
  kTxnAppId, kTxnVersion, kTxnLastUpdated, kDomainName, kDomainConfiguration, kDomainRemoved,
  kSidecarPath, kSidecarSize, kSidecarModificationTime, kColumnCount,
  kAddParsedStats = kRemovePath  // where it is read, the struct follows the fields of an add
};

struct CheckpointField {
  const char* path;  // dotted
  const char* type;
};

inline constexpr const char* kMap = "MAP(VARCHAR, VARCHAR)";
inline constexpr CheckpointField kCheckpointFields[kColumnCount] = {
    {"add.path", "VARCHAR"}, {"add.partitionValues", kMap}, {"add.size", "BIGINT"}, {"add.modificationTime", "BIGINT"},
    {"add.dataChange", "BOOLEAN"}, {"add.stats", "VARCHAR"}, {"add.tags", kMap}, {"add.deletionVector.storageType", "VARCHAR"},
    {"add.deletionVector.pathOrInlineDv", "VARCHAR"}, {"add.deletionVector.offset", "INTEGER"},
    {"add.deletionVector.sizeInBytes", "INTEGER"}, {"add.deletionVector.cardinality", "BIGINT"}, {"add.baseRowId", "BIGINT"},
    {"add.defaultRowCommitVersion", "BIGINT"}, {"add.clusteringProvider", "VARCHAR"},
    {"remove.path", "VARCHAR"}, {"remove.deletionTimestamp", "BIGINT"}, {"remove.dataChange", "BOOLEAN"},
    {"remove.extendedFileMetadata", "BOOLEAN"}, {"remove.partitionValues", kMap}, {"remove.size", "BIGINT"},
    {"remove.stats", "VARCHAR"}, {"remove.tags", kMap}, {"remove.deletionVector.storageType", "VARCHAR"},
    {"remove.deletionVector.pathOrInlineDv", "VARCHAR"}, {"remove.deletionVector.offset", "INTEGER"},
    {"remove.deletionVector.sizeInBytes", "INTEGER"}, {"remove.deletionVector.cardinality", "BIGINT"},
    {"remove.baseRowId", "BIGINT"}, {"remove.defaultRowCommitVersion", "BIGINT"},
    {"metaData.id", "VARCHAR"}, {"metaData.name", "VARCHAR"}, {"metaData.description", "VARCHAR"},
    {"metaData.format.provider", "VARCHAR"}, {"metaData.format.options", kMap}, {"metaData.schemaString", "VARCHAR"},
    {"metaData.partitionColumns", "VARCHAR[]"}, {"metaData.configuration", kMap}, {"metaData.createdTime", "BIGINT"},
    {"protocol.minReaderVersion", "INTEGER"}, {"protocol.minWriterVersion", "INTEGER"}, {"protocol.readerFeatures", "VARCHAR[]"},
    {"protocol.writerFeatures", "VARCHAR[]"},
    {"txn.appId", "VARCHAR"}, {"txn.version", "BIGINT"}, {"txn.lastUpdated", "BIGINT"},
    {"domainMetadata.domain", "VARCHAR"}, {"domainMetadata.configuration", "VARCHAR"}, {"domainMetadata.removed", "BOOLEAN"},
    {"sidecar.path", "VARCHAR"}, {"sidecar.sizeInBytes", "BIGINT"}, {"sidecar.modificationTime", "BIGINT"},
};

inline constexpr const char* kParsedStats = "add.stats_parsed";

}  // namespace braid::engine
