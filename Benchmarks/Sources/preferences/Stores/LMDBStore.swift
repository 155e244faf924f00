import BenchmarkHarness
import CLMDB
import Foundation

/// LMDB without its syncs, so that it keeps what preferences keep: whatever ends the process, but not
/// the machine.
class LMDBStore: Store {
  private let environment: OpaquePointer
  private var database: MDB_dbi = 0
  private var reader: OpaquePointer?

  class var flags: Int32 { MDB_NOSYNC }

  required init(directory: URL) throws {
    var opened: OpaquePointer?
    try Self.check(mdb_env_create(&opened))
    guard let opened else { throw StoreError(peer: .lmdb, code: -1) }
    environment = opened
    try Self.check(mdb_env_set_mapsize(environment, 1 << 30))
    try Self.check(mdb_env_open(environment, directory.path, UInt32(Self.flags), 0o600))
    try write { transaction in
      try Self.check(mdb_dbi_open(transaction, nil, 0, &database))
    }
    // Kept and renewed for each look-up, which is the fast way.
    try Self.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reader))
    mdb_txn_reset(reader)
  }

  deinit {
    mdb_txn_abort(reader)
    mdb_env_close(environment)
  }

  static func fill(_ keys: Keys, in directory: URL) throws {
    let store = try Self(directory: directory)
    try store.write { transaction in
      var value = 0
      for key in keys.bytes {
        try store.put(key, &value, transaction)
        value += 1
      }
    }
  }

  func set(_ keys: Keys, from first: Int) throws {
    var value = first
    for key in keys.bytes {
      try write { transaction in try put(key, &value, transaction) }
      value += 1
    }
  }

  func sum(_ keys: Keys) throws -> Int {
    var sum = 0
    for key in keys.bytes {
      try Self.check(mdb_txn_renew(reader))
      var name = MDB_val(mv_size: key.count, mv_data: .init(mutating: key.baseAddress))
      var value = MDB_val()
      try Self.check(mdb_get(reader, database, &name, &value))
      sum += value.mv_data.loadUnaligned(as: Int.self)
      mdb_txn_reset(reader)
    }
    return sum
  }

  private func put(
    _ key: UnsafeRawBufferPointer, _ value: inout Int, _ transaction: OpaquePointer?
  ) throws {
    try withUnsafeMutableBytes(of: &value) { bytes in
      var name = MDB_val(mv_size: key.count, mv_data: .init(mutating: key.baseAddress))
      var value = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
      try Self.check(mdb_put(transaction, database, &name, &value, 0))
    }
  }

  private func write(_ body: (OpaquePointer?) throws -> Void) throws {
    var transaction: OpaquePointer?
    try Self.check(mdb_txn_begin(environment, nil, 0, &transaction))
    try body(transaction)
    try Self.check(mdb_txn_commit(transaction))
  }

  private static func check(_ code: Int32) throws { try StoreError.check(code, .lmdb) }
}

/// LMDB that writes through its map, too. It keeps as much, and anything in the program that writes where it
/// should not can damage the file.
final class LMDBMapStore: LMDBStore {
  override class var flags: Int32 { MDB_NOSYNC | MDB_WRITEMAP }
}
