import Foundation

final class FontObserver: NSObject {
  private var observation: NSKeyValueObservation?

  func start(onChange: @escaping @Sendable () -> Void) {
    NotificationCenter.default.addObserver(
      forName: UserDefaults.didChangeNotification, object: nil, queue: .main
    ) { _ in onChange() }
  }
}
