import Foundation
import Synchronization

extension Preferences {
  /// Posted on the writing thread after each write, or removal, through this process's preferences.
  ///
  /// The object is the preferences that were written. There is no user info, and a write that changes
  /// nothing is posted, too. Changes by other processes are not posted, as on Apple's systems; for those
  /// see ``observe(_:includingOwn:_:)-(String,_,_)``.
  ///
  /// Posting costs more than a write does, so it begins when this name is first asked for. A program
  /// that waits for the notification without it, by the name's text or for all names, asks for it once.
  public static var didChangeNotification: Notification.Name {
    if !isNotificationNamed.load(ordering: .relaxed) {
      isNotificationNamed.store(true, ordering: .relaxed)
    }
    return changeName
  }

  /// The one place where ``didChangeNotification`` is posted from.
  func postChange() {
    guard isNotificationNamed.load(ordering: .relaxed) else { return }
    NotificationCenter.default.post(name: changeName, object: self)
  }
}

private let changeName = Notification.Name("NSUserDefaultsDidChangeNotification")

/// Whether the program knows the name of the notification, without which it can hardly wait for it.
private let isNotificationNamed = Atomic<Bool>(false)
