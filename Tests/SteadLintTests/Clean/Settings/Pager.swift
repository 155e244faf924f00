import Foundation

final class Pager {
  private let defaults: UserDefaults

  init(defaults: UserDefaults) { self.defaults = defaults }

  var nextPage: String? {
    get { defaults.string(forKey: DefaultsKey.pageToken) }
    set { defaults.set(newValue, forKey: DefaultsKey.pageToken) }
  }
}
