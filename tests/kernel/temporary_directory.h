// SPDX-License-Identifier: Apache-2.0
// A directory of its own for one test, removed with everything in it when the test ends.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace braid {

class TemporaryDirectory {
public:
	TemporaryDirectory() {
		std::string pattern = (std::filesystem::temp_directory_path() / "braid-test-XXXXXX").string();
		path_ = mkdtemp(pattern.data());
	}
	TemporaryDirectory(const TemporaryDirectory&) = delete;
	~TemporaryDirectory() { std::filesystem::remove_all(path_); }
	const std::string& path() const { return path_; }

private:
	std::string path_;
};

}  // namespace braid
