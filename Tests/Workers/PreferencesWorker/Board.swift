import CSteadFiles
import Foundation

/// Numbers that several processes see at once: one for each writer, in a file that all of them map.
///
/// What is on the board has been done before, in the sense of memory order as well.
struct Board {
  private let words: UnsafeMutableRawPointer

  /// Opens a board that is there; its size is its number of words.
  init(_ path: String) throws {
    let file = open(path, O_RDWR | O_CLOEXEC)
    defer { close(file) }
    var status = stat()
    guard file >= 0, fstat(file, &status) == 0,
      let words = mmap(
        nil, Int(status.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
      words != MAP_FAILED
    else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    self.words = words
  }

  subscript(writer: Int) -> Int {
    get { Int(stead_load_acquire(words + writer * 8)) }
    nonmutating set { stead_store_release(words + writer * 8, UInt64(newValue)) }
  }
}
