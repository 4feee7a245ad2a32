// SPDX-License-Identifier: Apache-2.0
#include "kernel/maintenance/clone_plan.h"

#include <map>

#include "kernel/feature/protocol_change.h"
#include "kernel/feature/timestamp_enablement.h"
#include "kernel/log/log_path.h"

namespace braid {

// "file:/p", not "file:///p": with the longer one Spark does not find the file again when it deletes rows.
static std::string FileUri(const LogStore& store, const std::string& stored) {
	return "file:" + EncodePath(store.Location(stored));
}

// A path that is absolute already stays as it is written.
static std::string AbsoluteUri(const LogStore& store, const std::string& path) {
	const std::string stored = StorePath(path);
	if (stored.starts_with('/') || stored.find(":/") != std::string::npos) return path;
	return FileUri(store, stored);
}

static Result<AddFile> Elsewhere(const LiveFile& file, const LogStore& store) {
	BRAID_TRY(AddFile add, ToAddFile(file));
	add.path = AbsoluteUri(store, add.path);
	if (add.deletion_vector && add.deletion_vector->storage_type == 'u') {
		BRAID_TRY(const std::string vector, FilePath(*add.deletion_vector));
		add.deletion_vector->storage_type = 'p';
		add.deletion_vector->path_or_inline_dv = FileUri(store, vector);
	}
	return add;
}

static std::string KeyOf(const std::string& path, const DvDescriptor* vector) {
	return DecodePath(path) + '\n' + (vector ? UniqueId(*vector) : "");
}

// A clone that is made anew of the same source keeps what both versions have: no file is added and removed in one commit.
static void Compare(std::vector<AddFile> files, const Snapshot* replaced, ClonePlan& plan) {
	std::map<std::string, AddFile*> wanted;
	for (AddFile& file : files)
		wanted[KeyOf(file.path, file.deletion_vector ? &*file.deletion_vector : nullptr)] = &file;
	for (const LiveFile* file : replaced ? replaced->files->Files() : std::vector<const LiveFile*>()) {
		if (wanted.erase(KeyOf(std::string(file->path), file->deletion_vector)) > 0) continue;
		plan.removed.emplace_back(file->path);
		plan.files_removed.Count(file->size);
	}
	for (auto& [key, file] : wanted) plan.entries.push_back(std::move(*file));
}

static Metadata MetadataOf(const Snapshot& source, const Snapshot* replaced, Random& random) {
	Metadata metadata = source.metadata;
	metadata.id = replaced ? replaced->metadata.id : NewUuid(random);
	KeepTimestampEnablement(replaced ? replaced->metadata.configuration : Configuration(), metadata.configuration);
	return metadata;
}

Result<ClonePlan> PlanClone(const Snapshot& source, const LogStore& store, const Snapshot* replaced, Random& random) {
	ClonePlan plan;
	std::vector<AddFile> files;
	for (const LiveFile* file : source.files->Files()) {
		BRAID_TRY(AddFile add, Elsewhere(*file, store));
		plan.source_files.Count(add.size);
		files.push_back(std::move(add));
	}
	Compare(std::move(files), replaced, plan);
	plan.metadata = MetadataOf(source, replaced, random);
	plan.protocol = source.protocol;
	if (replaced) {
		const auto features = EnabledWriterFeatures(source.protocol);
		plan.protocol = WithFeatures(replaced->protocol, FeatureSet(features.begin(), features.end()));
	}
	for (const std::string& name : {kClusteringDomain, kRowTrackingDomain}) {
		const auto domain = source.domains.find(name);
		if (domain != source.domains.end()) {
			plan.domains.push_back(domain->second);
		} else if (replaced && replaced->domains.contains(name) && name == kClusteringDomain) {
			plan.domains.push_back({name, replaced->domains.at(name).configuration, true});
		}
	}
	return plan;
}

}  // namespace braid
