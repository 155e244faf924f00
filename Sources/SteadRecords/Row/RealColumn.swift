/// Not-a-number in a column, which is text, since SQLite turns it into NULL.
enum RealColumn {
  static let notANumber = "NaN"

  static func decode(_ text: String) -> Double {
    text == notANumber ? .nan : Double(text) ?? 0
  }
}
