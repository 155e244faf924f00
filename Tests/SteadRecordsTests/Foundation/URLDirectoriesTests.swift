#if !canImport(Darwin)
  import Foundation
  import SwiftData
  import Testing

  @Suite struct URLDirectoriesTests {
    @Test func namesTheDirectoriesThatAppleDoes() {
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

    @Test(.exitTests) func followsTheEnvironment() async {
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
  }
#endif
