/// NaN in a column: text, since SQLite turns NaN into NULL.
enum RealColumn {
  static let notANumber = "NaN"

  static func decode(_ text: String) -> Double {
    text == notANumber ? .nan : Double(text) ?? 0
  }
}
