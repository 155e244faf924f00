/// An SQL identifier in quotes.
func quoted(_ name: String) -> String {
  // Thousands of names are quoted when a store is opened, and hardly any has a quote in it.
  let inner =
    name.utf8.contains(UInt8(ascii: "\"")) ? name.replacing("\"", with: "\"\"") : name
  return "\"" + inner + "\""
}
