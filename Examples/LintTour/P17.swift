import SwiftData

@Model final class Playlist {
  @Relationship(deleteRule: .nullify) var songs: [Song] = []
}

@Model final class Song {
  var title = ""
}

@Model final class Club {
  @Relationship(deleteRule: .nullify, inverse: \Member.club) var members: [Member] = []
}

@Model final class Member {
  @Relationship(inverse: \Club.members) var club: Club?
}
