import Foundation
import Security

func addOnce(_ query: [CFString: Any]) throws {
  let status = SecItemAdd(query as CFDictionary, nil)
  guard status == errSecSuccess else { throw CocoaError(.fileWriteUnknown) }
}
