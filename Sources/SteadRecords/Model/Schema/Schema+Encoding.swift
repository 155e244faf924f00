extension Schema.Attribute {
  /// How the attribute's values lie in a column.
  package var encoding: _ColumnEncoding {
    if isTransformable || isCodable { return .opaque }
    if options.contains(.externalStorage) { return .external }
    return PropertyShape(valueType).encoding
  }

  /// The name of the transformer that makes its stored value, nil where there is none.
  package var transformerName: String? { options.lazy.compactMap(\.transformerName).first }
}
