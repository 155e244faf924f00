/// Why a column does not hold a value of its property.
enum ColumnError: Error, CustomStringConvertible {
  case missingValue
  case noTransformer(String)
  case notTransformable
  case missingFile
  case damagedFile

  var description: String {
    switch self {
    case .missingValue: "The column is NULL, but the property is not optional."
    case .noTransformer(let name):
      "No ValueTransformer is registered as \(name). Register it with "
        + "ValueTransformer.setValueTransformer(_:forName:) before the container is opened."
    case .notTransformable:
      "The transformer returned no data, or data that it cannot transform back."
    case .missingFile:
      "Its file is gone: another program has removed it, with the last row that referred to it. Set the property again."
    case .damagedFile:
      "Its file is damaged, or the column has something else than the name of a file: another program has written it. Set the "
        + "property again."
    }
  }
}
