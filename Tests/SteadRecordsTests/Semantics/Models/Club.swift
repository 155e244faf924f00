import Foundation
import SwiftData

@Model final class Club {
  var name: String
  var city: String?
  @Relationship(deleteRule: .nullify, inverse: \Member.club) var members: [Member] = []

  init(name: String, city: String? = nil) {
    self.name = name
    self.city = city
  }
}

@Model final class Member {
  var name: String
  var age: Int
  var nickname: String?
  var joined: Date
  var club: Club?
  @Relationship(inverse: \Skill.holders) var skills: [Skill] = []
  @Transient var isSelected = false

  init(name: String, age: Int = 30, nickname: String? = nil, club: Club? = nil) {
    self.name = name
    self.age = age
    self.nickname = nickname
    self.club = club
    joined = Date(timeIntervalSinceReferenceDate: 0)
  }
}

@Model final class Skill {
  @Attribute(.unique) var title: String
  var level = 1
  var holders: [Member] = []

  init(title: String, level: Int = 1) {
    self.title = title
    self.level = level
  }
}

extension TestStore {
  static func clubs(_ place: StorePlace) throws -> TestStore {
    try TestStore(place, Club.self, Member.self, Skill.self)
  }
}
