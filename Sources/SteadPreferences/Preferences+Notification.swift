import Foundation
import Synchronization

extension Preferences {
  /// Posted on the writing thread after each write, or removal, through this process's preferences.
  ///
  /// The object is the preferences that were written. The notification has no user info, and is also posted
  /// for a write that changes nothing. Changes by other processes are not posted, as on Apple's systems; for
  /// those see ``observe(_:includingOwn:_:)-(String,_,_)``.
  ///
  /// Posting costs more than a write does, so it begins when this name is first used. A program that observes
  /// the notification without it, by its string or for all names, has to read this property once.
  public static var didChangeNotification: Notification.Name {
    if !isNotificationNamed.load(ordering: .relaxed) {
      isNotificationNamed.store(true, ordering: .relaxed)
    }
    return changeName
  }

  /// The only place that posts ``didChangeNotification``.
  func postChange() {
    guard isNotificationNamed.load(ordering: .relaxed) else { return }
    NotificationCenter.default.post(name: changeName, object: self)
  }
}

private let changeName = Notification.Name("NSUserDefaultsDidChangeNotification")

/// Whether the program has used the notification's name, without which it can hardly wait for it.
private let isNotificationNamed = Atomic<Bool>(false)
