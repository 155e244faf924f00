/// What a finished write is safe from.
///
/// Every level survives the end of the process, `kill -9` included: the system has the bytes. They
/// differ in what a loss of power, or a crash of the system, may undo. Measured on ext4, a sync takes
/// between 0.3 ms on an idle disk and 8 ms on a busy one.
public enum Durability: Sendable, Hashable, CaseIterable {
  /// Nothing is synced. After a loss of power the file may be old, new or, on some file systems, empty.
  case none
  /// The contents are synced before they take the name: after a loss of power the file is the old one
  /// or the new one, whole. One sync.
  case file
  /// The name is synced, too: once the call returns, the new file stays. Two syncs.
  case full
}
