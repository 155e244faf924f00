/// What is good enough, of all measures in one place: the greatest value that `--check` lets pass.
enum Goals {
  // In times of SQLite's C interface.
  static let insert = 1.6
  static let saves = 1.25
  static let savesInOldProcess = 1.25
  static let savesBesideIdleContexts = 1.25
  static let fetch = 1.0
  static let fetchAndRead = 1.4
  static let refetch = 0.3
  static let lookup = 1.2
  static let lookupAlone = 1.2
  static let query = 1.15
  static let families = 1.4
  static let update = 1.0
  static let delete = 1.0
  static let memory = 1.1

  // In times of one `+=` of the same objects.
  static let growth = 2.0

  // In nanoseconds.
  static let read = 50.0
  static let readUnobserved = 30.0
  static let write = 60.0
  static let opening = 10e6
}
