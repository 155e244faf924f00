import Foundation

/// The thread that runs.
enum CurrentThread {
  static var number: UInt {
    // A number or a pointer, by the system.
    withUnsafeBytes(of: pthread_self()) { $0.load(as: UInt.self) }
  }
}
