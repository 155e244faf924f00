import Crypto
import Foundation
import SteadFiles
import SteadSecrets

func lettersKey() throws -> SymmetricKey {
  let secrets = try Secrets(service: "org.example.Notes")
  if let kept = try secrets.data(for: "letters key") { return SymmetricKey(data: kept) }
  let new = SymmetricKey(size: .bits256)
  // Throws if another process has inserted a key first: call this again then.
  try secrets.insert(new.withUnsafeBytes { Data($0) }, for: "letters key")
  return new
}

func writeLetters(_ letters: Data, to url: URL) throws {
  let sealed = try ChaChaPoly.seal(letters, using: lettersKey())
  try AtomicFile(url).replace(with: sealed.combined)
}
