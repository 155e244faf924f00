import SwiftData

/// Two lists that name one to-one relationship, as an app of Apple's has them.
@Model final class Backyard {
  var name: String
  @Relationship(inverse: \Plant.backyard) var plants: [Plant] = []
  @Relationship(inverse: \Plant.backyard) var archive: [Plant] = []

  init(name: String) { self.name = name }
}

@Model final class Plant {
  var name: String
  var backyard: Backyard?

  init(name: String) { self.name = name }
}

/// Two to-one relationships that name one.
@Model final class Gate {
  var name: String
  @Relationship(inverse: \Keeper.gate) var keeper: Keeper?
  @Relationship(inverse: \Keeper.gate) var deputy: Keeper?

  init(name: String) { self.name = name }
}

@Model final class Keeper {
  var name: String
  var gate: Gate?

  init(name: String) { self.name = name }
}

/// Four lists and one to-one, none of them named.
@Model final class ShopAccount {
  var billing: [MailingAddress] = []
  var shipping: [MailingAddress] = []
  var former: [MailingAddress] = []
  var shared: [MailingAddress] = []

  init() {}
}

@Model final class MailingAddress {
  var street: String
  var account: ShopAccount?

  init(street: String) { self.street = street }
}

/// Three relationships to the class itself, none of them named.
@Model final class Relative {
  var name: String
  var mother: Relative?
  var father: Relative?
  var children: [Relative] = []

  init(name: String) { self.name = name }
}

enum OneListSchema {
  @Model final class Yard {
    @Relationship(inverse: \Shrub.yard) var shrubs: [Shrub] = []
    init() {}
  }

  @Model final class Shrub {
    var name: String
    var yard: Yard?
    init(name: String) { self.name = name }
  }
}

/// The same with a list that is declared before the old one.
enum TwoListSchema {
  @Model final class Yard {
    @Relationship(inverse: \Shrub.yard) var wanted: [Shrub] = []
    @Relationship(inverse: \Shrub.yard) var shrubs: [Shrub] = []
    init() {}
  }

  @Model final class Shrub {
    var name: String
    var yard: Yard?
    init(name: String) { self.name = name }
  }
}

/// The same in another order, the first with another name.
enum TurnedListSchema {
  @Model final class Yard {
    @Relationship(inverse: \Shrub.yard) var shrubs: [Shrub] = []
    @Relationship(originalName: "wanted", inverse: \Shrub.yard) var wishes: [Shrub] = []
    init() {}
  }

  @Model final class Shrub {
    var name: String
    var yard: Yard?
    init(name: String) { self.name = name }
  }
}

/// The same with another name of the to-one relationship.
enum RenamedListSchema {
  @Model final class Yard {
    @Relationship(inverse: \Shrub.place) var wanted: [Shrub] = []
    @Relationship(inverse: \Shrub.place) var shrubs: [Shrub] = []
    init() {}
  }

  @Model final class Shrub {
    var name: String
    @Relationship(originalName: "yard") var place: Yard?
    init(name: String) { self.name = name }
  }
}
