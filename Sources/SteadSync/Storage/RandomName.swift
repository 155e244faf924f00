internal import SteadSyncProtocol

/// Names of 128 random bits.
enum RandomName {
  static func text() -> String {
    func digits(_ number: UInt64) -> String {
      let text = String(number, radix: 16)
      return String(repeating: "0", count: 16 - text.count) + text
    }
    return digits(.random(in: 0 ... .max)) + digits(.random(in: 0 ... .max))
  }

  static func record() -> RecordID { RecordID(stringLiteral: text()) }
  static func client() -> ClientID { ClientID(stringLiteral: text()) }
  static func device() -> DeviceID { DeviceID(stringLiteral: text()) }
}
