// SPDX-License-Identifier: Apache-2.0
#include "kernel/storage/log_store.h"

#include <utility>

namespace braid {
namespace {

// Of a store that writes whole files only.
class CollectedFile final : public FileStream {
public:
	CollectedFile(LogStore& store, std::string path) : store_(store), path_(std::move(path)) {}
	Status Append(std::string_view bytes) override {
		bytes_ += bytes;
		return {};
	}
	Status Close() override { return store_.Create(path_, bytes_); }

private:
	LogStore& store_;
	const std::string path_;
	std::string bytes_;
};

}  // namespace

Result<std::unique_ptr<FileStream>> LogStore::CreateStream(std::string_view path) {
	return std::make_unique<CollectedFile>(*this, std::string(path));
}

}  // namespace braid
