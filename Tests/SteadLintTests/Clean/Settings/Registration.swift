import Foundation

func registerDefaults(in defaults: UserDefaults = .standard) {
  defaults.register(defaults: [
    DefaultsKey.playsSounds: true,
    DefaultsKey.fontSize: 14,
    DefaultsKey.maxTokens: 4096,
  ])
}
