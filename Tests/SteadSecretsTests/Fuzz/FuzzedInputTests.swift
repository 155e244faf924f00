import Foundation
import Testing

@testable import SteadSecrets

/// What Scripts/fuzz begins with, and what it has found, through the parser of vaults.
///
/// The first byte of a file says what follows: a header with the rest of a vault (0), or the length of
/// the values and an opened index (1). The seeds are of a vault without items, with one, and with
/// several and two keys.
struct FuzzedInputTests {
  private static let directory = URL(filePath: #filePath, directoryHint: .notDirectory)
    .deletingLastPathComponent().appending(path: "../../Support/VaultFuzz")

  /// Seeds that the parser refused would teach the fuzzer nothing.
  @Test func seedsAreWhatTheParserTakes() throws {
    let seeds = try inputs("Seeds")
    #expect(seeds.count >= 4)
    for (name, data) in seeds {
      #expect(throws: Never.self, "\(name)") { try Self.parse(data) }
    }
  }

  @Test func findingsNoLongerStopTheParser() throws {
    for (_, data) in (try? inputs("Findings")) ?? [] { try? Self.parse(data) }
  }

  private static func parse(_ data: Data) throws {
    try data.withUnsafeBytes { bytes in
      let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
      if bytes[0] % 2 == 0 {
        _ = try VaultHeader(parsing: rest)
      } else {
        let length = UInt64(littleEndian: rest.loadUnaligned(as: UInt64.self))
        _ = try VaultIndex(
          parsing: UnsafeRawBufferPointer(rebasing: rest[8...]), valuesLength: Int(length))
      }
    }
  }

  private func inputs(_ folder: String) throws -> [(String, Data)] {
    let place = Self.directory.appending(path: folder)
    return try FileManager.default.contentsOfDirectory(atPath: place.filePath).map {
      ($0, try Data(contentsOf: place.file($0)))
    }
  }
}
