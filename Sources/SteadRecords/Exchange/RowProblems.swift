/// Why values cannot be a row of an entity.
package struct RowProblems: Error {
  /// A property's name and what is wrong with its value, without the value: `text is required`.
  package let problems: [String]
}
