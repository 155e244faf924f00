/// How a column stores values of one type.
public enum _ColumnEncoding: String, Sendable {
  case boolean, integer, unsigned64, real, date, decimal, text, uuid, url, data, json, composite,
    external, opaque
}

typealias ColumnEncoding = _ColumnEncoding
