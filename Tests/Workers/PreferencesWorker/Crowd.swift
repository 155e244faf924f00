import CSteadFiles
import Foundation
import SteadPreferences

/// Many writers and readers of one domain, with a board of what must be there.
enum Crowd {
  /// Sets keys one after the other, and one key again and again.
  static func write(_ preferences: Preferences, _ arguments: [String]) throws {
    guard let writer = Int(arguments[1]), let count = Int(arguments[2]) else { WorkerMain.misuse() }
    let board = try Board(arguments[0])
    WorkerMain.waitForStart()
    for number in 0..<count {
      preferences.set(number + 1, forKey: "\(writer).latest")
      preferences.set("\(writer)-\(number)", forKey: "\(writer).key.\(number)")
      board[writer] = number + 1
    }
    say("done")
  }

  /// How many keys ``burst(_:board:)`` sets.
  static let burstKeyCount = 100

  /// Sets keys as fast as it can, each to the number of the set.
  static func burst(_ preferences: Preferences, board: Board) {
    let keys = (0..<burstKeyCount).map { "burst.\($0)" }
    var number = 0
    while true {
      for key in keys {
        number += 1
        preferences.set(number, forKey: key)
        board[0] = number
      }
    }
  }

  /// Looks at all that is on the board, over and over, and once more when all is.
  static func read(_ preferences: Preferences, _ arguments: [String]) throws {
    guard let writers = Int(arguments[1]), let count = Int(arguments[2]) else {
      WorkerMain.misuse()
    }
    let board = try Board(arguments[0])
    WorkerMain.waitForStart()
    var (isFull, looks) = (false, 0)
    while !isFull {
      isFull = (0..<writers).allSatisfy { board[$0] == count }
      for writer in 0..<writers {
        let announced = board[writer]
        let latest = preferences.integer(forKey: "\(writer).latest")
        if latest < announced { say("error \(writer).latest is \(latest), not \(announced)") }
        for number in 0..<announced {
          let value = preferences.string(forKey: "\(writer).key.\(number)")
          if value != "\(writer)-\(number)" {
            say("error \(writer).key.\(number) is \(value ?? "missing")")
          }
        }
        looks += announced
      }
    }
    say("looks \(looks)")
  }
}

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
