import Foundation

actor ImageCache {
  private let folder: URL

  init() throws {
    folder = try FileManager.default.url(
      for: .cachesDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
  }

  func keep(_ data: Data, for name: String) throws {
    try data.write(to: folder.appending(path: name))
  }

  func image(_ name: String) -> Data? {
    // One that can't be read is fetched again.
    try? Data(contentsOf: folder.appending(path: name))
  }
}
