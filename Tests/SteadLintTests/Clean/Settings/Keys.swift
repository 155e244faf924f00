import Foundation

enum DefaultsKey {
  static let playsSounds = "playsSounds"
  static let fontSize = "fontSize"
  static let lastPasswordCheck = "lastPasswordCheck"
  static let pageToken = "nextPageToken"
  static let maxTokens = "maxTokens"
  static let hasPassword = "hasPassword"
}
