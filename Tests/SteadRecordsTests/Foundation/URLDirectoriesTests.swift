#if !canImport(Darwin)
  import Foundation
  import SteadTestSupport
  import SwiftData
  import Testing

  @Suite struct URLDirectoriesTests {
    @Test func `names the directories that Apple does`() {
      let directories: [URL] = [
        .applicationSupportDirectory, .cachesDirectory, .libraryDirectory, .documentsDirectory,
        .downloadsDirectory, .desktopDirectory, .moviesDirectory, .musicDirectory,
        .picturesDirectory, .sharedPublicDirectory, .trashDirectory, .homeDirectory,
        .temporaryDirectory,
      ]
      for directory in directories {
        #expect(directory.isFileURL && directory.hasDirectoryPath)
        #expect(directory.path(percentEncoded: false).hasPrefix("/"))
      }
    }

    @Test(.exitTests) func `follows the environment`() async {
      await #expect(processExitsWith: .success) {
        setenv("XDG_DATA_HOME", "/x/data", 1)
        setenv("XDG_CACHE_HOME", "/x/cache", 1)
        setenv("HOME", "/x/home", 1)
        setenv("XDG_CONFIG_HOME", "/x/none", 1)
        let paths = [URL.applicationSupportDirectory, .cachesDirectory, .downloadsDirectory]
          .map { $0.path(percentEncoded: false) }
        exit(paths == ["/x/data/", "/x/cache/", "/x/home/Downloads/"] ? 0 : 1)
      }
    }

    /// By a user whom the database lacks, as in a container, the store was made in the working directory, and another
    /// one in the next.
    @Test(
      .exitTests, .needs(.superuser), arguments: [nil, "", "home", "./home"], [nil, "", "data"])
    func `without an absolute HOME a store without a URL cannot be made`(
      home: String?, data: String?
    ) async throws {
      let directory = try TemporaryDirectory()
      try directory.url.setMode(0o777)
      await #expect(processExitsWith: .success) {
        [place = directory.url.filePath as String, home = home as String?, data = data as String?]
        in
        for (variable, value) in [("HOME", home), ("XDG_DATA_HOME", data)] {
          if let value { setenv(variable, value, 1) } else { unsetenv(variable) }
        }
        #expect(chdir(place) == 0 && mkdir("home", 0o777) == 0 && chmod("home", 0o777) == 0)
        #expect(setgid(54_321) == 0 && setuid(54_321) == 0)
        #expect(URL.applicationSupportDirectory.filePath == "/var/empty/.local/share/")
        let error = #expect(throws: SwiftDataError.self) { try ModelContainer(for: Trip.self) }
        #expect(error?.code == .storageFailure && error?.message.contains("XDG_DATA_HOME") == true)
        let files = FileManager.default.enumerator(atPath: place)?.compactMap { $0 as? String }
        #expect(files == ["home"])
      }
    }
  }
#endif
