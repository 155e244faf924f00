import Foundation
import SteadSQLite

extension SQLiteConnection {
  /// A connection without any function of this library, as another program has it.
  static func foreign(_ url: URL) throws -> SQLiteConnection {
    var options = SQLiteOptions(.file(url.path))
    options.isWritable = true
    return try SQLiteConnection(options)
  }
}
