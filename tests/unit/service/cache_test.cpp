#include "service/cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "crypto/digest.hpp"
#include "unit/temporary.hpp"

namespace llmgw::service {
namespace {

namespace fs = std::filesystem;

class CacheTest : public testing::Test {
  protected:
    void expect_denied(const std::string& path, const std::string& because) const {
        const Result<Cache> cache = Cache::open_or_make(path);
        ASSERT_FALSE(cache.ok()) << because;
        EXPECT_EQ(cache.error().code, Code::denied);
        EXPECT_NE(cache.error().message.find(because), std::string::npos) << cache.error().message;
        EXPECT_NE(cache.error().message.find(" is not used: "), std::string::npos) << cache.error().message;
    }
    void write(const std::string& name, const std::string& text, mode_t mode = 0644) const {
        std::ofstream(path_ + "/" + name) << text;
        ::chmod((path_ + "/" + name).c_str(), mode);
    }
    static mode_t mode_of(const std::string& path) {
        struct stat status {};
        EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
        return status.st_mode & 07777U;
    }
    [[nodiscard]] Cache opened() const { return Cache::open_or_make(path_).value(); }

    test::TemporaryDirectory place_;
    std::string path_ = place_.file("cache");
    PinnedFile file_{"f.deb", "https://h/f.deb", crypto::sha256_hex("right").value()};
};

TEST_F(CacheTest, ThatOthersCanWriteIsRefused) {
    fs::create_directory(path_);
    for (const mode_t mode : {0775U, 0757U, 01777U}) {
        ::chmod(path_.c_str(), mode);
        expect_denied(path_, "others than root can write in it");
    }
    ::chmod(path_.c_str(), 0755);
    ::chmod(place_.path().c_str(), 0777);
    expect_denied(path_, "others than root can write in " + place_.path());
    ::chmod(place_.path().c_str(), 01777);
    EXPECT_TRUE(Cache::open(path_).ok());
}

TEST_F(CacheTest, OfSomebodyElseIsRefused) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
    fs::create_directory(path_);
    ASSERT_EQ(::chown(path_.c_str(), 12345, 12345), 0);
    expect_denied(path_, "belongs to user 12345");
    ASSERT_EQ(::chown(path_.c_str(), 0, 0), 0);
    ASSERT_EQ(::chown(place_.path().c_str(), 12345, 0), 0);
    expect_denied(path_, place_.path() + " belongs to user 12345");
}

TEST_F(CacheTest, ThatIsNoDirectoryIsRefused) {
    fs::create_directory(place_.file("elsewhere"));
    fs::create_directory_symlink("elsewhere", path_);
    expect_denied(path_, "symbolic link");
    expect_denied(path_ + "/", "symbolic link");
    fs::remove(path_);
    std::ofstream(path_) << "x";
    expect_denied(path_, "no directory");
    EXPECT_EQ(Cache::open_or_make("cache").error().code, Code::invalid);
    EXPECT_EQ(Cache::open(place_.file("missing")).error().code, Code::missing);
    EXPECT_FALSE(fs::exists(place_.file("missing")));
}

TEST_F(CacheTest, IsMadeForPackageManagersToRead) {
    EXPECT_TRUE(Cache::open_or_make(path_ + "/").ok());
    EXPECT_EQ(mode_of(path_), 0755U);
}

TEST_F(CacheTest, HasOnlyWhatIsRightAndNobodyElseCouldWrite) {
    const Cache cache = opened();
    EXPECT_FALSE(cache.has(file_));
    write("f.deb", "wrong");
    EXPECT_FALSE(cache.has(file_));
    write("f.deb", "right", 0664);
    EXPECT_FALSE(cache.has(file_));
    write("f.deb", "right", 0644);
    EXPECT_TRUE(cache.has(file_));
    fs::create_hard_link(path_ + "/f.deb", path_ + "/other");
    EXPECT_FALSE(cache.has(file_));
    fs::remove(path_ + "/f.deb");
    fs::create_symlink("other", path_ + "/f.deb");
    EXPECT_FALSE(cache.has(file_));
    fs::remove(path_ + "/f.deb");
    ASSERT_EQ(::mkfifo((path_ + "/f.deb").c_str(), 0644), 0);
    EXPECT_FALSE(cache.has(file_));
}

TEST_F(CacheTest, PublishesOverWhateverWasThere) {
    const Cache cache = opened();
    write("victim", "untouched");
    fs::create_symlink("victim", path_ + "/f.deb");
    write("f.deb.part", "right", 0600);
    write("f.deb.part.from", "x", 0600);
    EXPECT_EQ(cache.digest_of_part(file_, {}).value(), (FileDigest{file_.sha256, 5}));
    ASSERT_TRUE(cache.publish(file_).ok());
    EXPECT_TRUE(cache.has(file_));
    EXPECT_EQ(mode_of(path_ + "/f.deb"), 0644U);
    EXPECT_FALSE(fs::exists(path_ + "/f.deb.part"));
    EXPECT_FALSE(fs::exists(path_ + "/f.deb.part.from"));
    std::ifstream victim(path_ + "/victim");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(victim), {}), "untouched");
    EXPECT_EQ(cache.publish(file_).error().code, Code::missing);
}

TEST_F(CacheTest, PutsWrongFilesAsideForRootToLookAt) {
    const Cache cache = opened();
    write("f.deb.rejected", "older", 0600);
    write("f.deb.part", "wrong", 0600);
    write("f.deb.part.from", "x", 0600);
    ASSERT_TRUE(cache.reject(file_).ok());
    EXPECT_EQ(mode_of(path_ + "/f.deb.rejected"), 0600U);
    EXPECT_EQ(fs::file_size(path_ + "/f.deb.rejected"), 5U);
    EXPECT_FALSE(fs::exists(path_ + "/f.deb.part"));
    EXPECT_FALSE(fs::exists(path_ + "/f.deb.part.from"));
    EXPECT_FALSE(cache.has(file_));
}

TEST_F(CacheTest, IsLockedByOneAtATime) {
    const Cache cache = opened();
    Result<Descriptor> first = cache.lock();
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(opened().lock().error().code, Code::conflict);
    first.value().reset();
    EXPECT_TRUE(opened().lock().ok());
    EXPECT_GT(cache.room().value(), 0U);
}

TEST_F(CacheTest, StopsReading) {
    const Cache cache = opened();
    write("f.deb.part", "right", 0600);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(cache.digest_of_part(file_, stop.get_token()).error().code, Code::unavailable);
}

}  // namespace
}  // namespace llmgw::service
